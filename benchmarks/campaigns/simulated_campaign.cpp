// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/campaigns/simulated_campaign.hpp"

#include <algorithm>
#include <cmath>

#include "benchmarks/simulated_launches.hpp"
#include "common/enum_names.hpp"
#include "common/rng.hpp"
#include "tuner/verdict/campaign_error.hpp"
#include "tuner/verdict/earlier_pairs.hpp"
#include "tuner/verdict/looks.hpp"
#include "tuner/verdict/speed_up.hpp"

namespace steptune::campaigns {
namespace {

constexpr auto k_rules = enum_names<Rule>({
    {Rule::campaign, "campaign"},
    {Rule::single, "single"},
    {Rule::greedy, "greedy"},
    {Rule::two_wins, "two wins"},
});

/// Pairs of launches for one edit. `ratio`: time of the challenger as a multiple of the champion's.
class Pairs {
 public:
  /// `variation`: standard deviation of the logarithm of a launch's time.
  Pairs(const CampaignModel& model, double variation, double ratio, Rng& rng)
      : runs_(variation, model.run_variation), ratio_(ratio), rng_(rng) {}

  void add() {
    const TrialRecord* challenger = runs_.run(ratio_, rng_);
    pairs_.push_back({challenger, runs_.run(1.0, rng_)});
  }
  [[nodiscard]] const std::vector<RunPair>& all() const { return pairs_; }
  [[nodiscard]] bool last_was_faster() const {
    return pairs_.back().incumbent->objectives[0] < pairs_.back().baseline->objectives[0];
  }

 private:
  SimulatedLaunches runs_;
  double ratio_;
  Rng& rng_;
  std::vector<RunPair> pairs_;
};

/// Adds pairs until the verdict is certain or the time is over. At the end of the time, the verdict
/// counts even if it is uncertain.
bool judged_faster(const CampaignModel& model, const StudySpec& study, const BothErrors& errors,
                   Pairs& pairs) {
  const int most = std::max(1, static_cast<int>(model.judge_time_s / model.judge_pair_s));
  for (;;) {
    pairs.add();
    const auto count = static_cast<int>(pairs.all().size());
    const bool is_last = count >= most;
    if (!is_last && !is_look(count, look_plan(study))) continue;
    const Judgement judgement = judge_both_ways(study, pairs.all(), errors, is_last);
    if (is_last || judgement.settled) return judgement.verdict == Verdict::faster;
  }
}

/// Verdicts and scatters of a campaign's edits so far.
struct Before {
  std::vector<bool> kept;
  std::vector<Scatter> scatters;
};

StudySpec study_after(const Before& before) {
  StudySpec study = judged_study();
  const Scatter pairs = pooled_scatter(before.scatters);
  study.measure.pair_deviation = pairs.deviation();
  study.measure.pair_freedom = pairs.degrees_of_freedom;
  return study;
}

bool is_kept(const CampaignModel& model, const Before& before, Pairs& pairs) {
  switch (model.rule) {
    case Rule::campaign:
      return judged_faster(model, study_after(before),
                           {campaign_error(before.kept), k_one_sided_error}, pairs);
    case Rule::single:
      return judged_faster(model, study_after(before), {}, pairs);
    case Rule::greedy:
      pairs.add();
      return pairs.last_was_faster();
    case Rule::two_wins:
      pairs.add();
      if (!pairs.last_was_faster()) return false;
      pairs.add();
      return pairs.last_was_faster();
  }
  return false;
}

}  // namespace

std::string to_text(Rule rule) {
  return std::string(k_rules.name_of(rule));
}

CampaignResult play(const CampaignModel& model) {
  CampaignResult result;
  Rng rng(model.seed, "campaign", 0);
  Before before;
  const bool is_judge = model.rule == Rule::campaign || model.rule == Rule::single;
  const double pair_s = is_judge ? model.judge_pair_s : model.fixed_pair_s;
  for (int edit = 1; edit <= model.edits; ++edit) {
    const bool is_better = model.gain_every > 0 && edit % model.gain_every == 0;
    const bool is_later = 2 * edit > model.edits && model.later_variation > 0.0;
    const double usual = is_later ? model.later_variation : model.launch_variation;
    const double variation =
        model.spread > 0.0 ? usual * std::exp(model.spread * rng.normal()) : usual;
    Pairs pairs(model, variation, is_better ? 1.0 / (1.0 + model.gain) : 1.0, rng);
    const bool keep = is_kept(model, before, pairs);
    before.kept.push_back(keep);
    before.scatters.push_back(scatter_of(judged_study(), pairs.all()));
    result.spent_s += pair_s * static_cast<double>(pairs.all().size());
    result.improvements += is_better ? 1 : 0;
    result.found += is_better && keep ? 1 : 0;
    result.false_keeps += !is_better && keep ? 1 : 0;
  }
  return result;
}

}  // namespace steptune::campaigns
