// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/campaigns/simulated_campaign.hpp"

#include <algorithm>
#include <cmath>

#include "benchmarks/simulated_launches.hpp"
#include "common/enum_names.hpp"
#include "common/rng.hpp"
#include "tuner/verdict/campaign_error.hpp"
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

/// The pairs of one edit. `ratio`: time of the challenger as a multiple of the champion's.
class Pairs {
 public:
  Pairs(const CampaignModel& model, double ratio, Rng& rng)
      : runs_(model.launch_variation, model.run_variation), ratio_(ratio), rng_(rng) {}

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

/// Adds pairs until the verdict is certain or the time is over. The verdict at the end of the time
/// counts, too.
bool judged_faster(const CampaignModel& model, const BothErrors& errors, Pairs& pairs) {
  const StudySpec& study = judged_study();
  const int most = std::max(1, static_cast<int>(model.judge_time_s / model.judge_pair_s));
  for (;;) {
    pairs.add();
    const auto count = static_cast<int>(pairs.all().size());
    const bool is_last = count >= most;
    if (!is_last && !is_look(count, look_plan(study))) continue;
    const Judgement judgement = judge_both_ways(study, pairs.all(), errors);
    if (is_last || judgement.settled) return judgement.verdict == Verdict::faster;
  }
}

bool is_kept(const CampaignModel& model, const std::vector<bool>& kept, Pairs& pairs) {
  switch (model.rule) {
    case Rule::campaign:
      return judged_faster(model, {campaign_error(kept), k_one_sided_error}, pairs);
    case Rule::single:
      return judged_faster(model, {}, pairs);
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
  std::vector<bool> kept;
  const bool is_judge = model.rule == Rule::campaign || model.rule == Rule::single;
  const double pair_s = is_judge ? model.judge_pair_s : model.fixed_pair_s;
  for (int edit = 1; edit <= model.edits; ++edit) {
    const bool is_better = model.gain_every > 0 && edit % model.gain_every == 0;
    Pairs pairs(model, is_better ? 1.0 / (1.0 + model.gain) : 1.0, rng);
    const bool keep = is_kept(model, kept, pairs);
    kept.push_back(keep);
    result.spent_s += pair_s * static_cast<double>(pairs.all().size());
    result.improvements += is_better ? 1 : 0;
    result.found += is_better && keep ? 1 : 0;
    result.false_keeps += !is_better && keep ? 1 : 0;
  }
  return result;
}

}  // namespace steptune::campaigns
