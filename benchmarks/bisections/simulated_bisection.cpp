// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/bisections/simulated_bisection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "benchmarks/simulated_launches.hpp"
#include "common/rng.hpp"
#include "tuner/study/limits.hpp"
#include "tuner/verdict/change_point.hpp"
#include "tuner/verdict/earlier_pairs.hpp"
#include "tuner/verdict/looks.hpp"
#include "tuner/verdict/speed_up.hpp"

namespace steptune::bisections {
namespace {

/// Launches of a program whose times vary from launch to launch.
class Launches {
 public:
  explicit Launches(const BisectionModel& model)
      : model_(model),
        rng_(model.seed, "bisection", 0),
        first_slow_(static_cast<std::size_t>(rng_.uniform() * double(model.versions))) {}

  [[nodiscard]] std::size_t first_slow() const { return first_slow_; }
  [[nodiscard]] int count() const { return count_; }

  /// Launches the good version.
  const TrialRecord* good() { return run(1.0); }
  const TrialRecord* version(std::size_t version) {
    return run(version >= first_slow_ ? 1.0 + model_.slowdown : 1.0);
  }

 private:
  const TrialRecord* run(double mean) {
    ++count_;
    return runs_.run(mean, rng_);
  }

  const BisectionModel& model_;
  Rng rng_;
  std::size_t first_slow_;
  int count_ = 0;
  SimulatedLaunches runs_{model_.launch_variation, model_.run_variation};
};

/// Returns the one-sided error for the verdict on each version. All verdicts of a stage are then
/// right in 95 % of cases.
double error_of_each(std::size_t versions) {
  return k_one_sided_error / static_cast<double>(versions);
}

struct Compared {
  std::size_t version = 0;
  std::vector<RunPair> pairs;
  Judgement judgement;
};

/// Runs the good version and these versions in turn until each verdict is certain or the time is
/// over.
std::vector<Compared> compare(const StudySpec& study, const std::vector<std::size_t>& versions,
                              double stage_s, double run_s, Launches& launches) {
  std::vector<Compared> all;
  for (const std::size_t version : versions)
    all.push_back({version, {}, {}});
  const LookPlan plan = look_plan(study);
  const int first_run = launches.count();
  const double error = error_of_each(versions.size());
  const BothErrors errors{error, error};
  const auto is_settled = [](const Compared& each) { return each.judgement.settled; };
  const auto has_time = [&] { return (launches.count() - first_run + 2) * run_s <= stage_s; };
  while (has_time() && !std::ranges::all_of(all, is_settled)) {
    const TrialRecord* good = launches.good();
    for (Compared& each : all) {
      if (each.judgement.settled || (launches.count() - first_run + 1) * run_s > stage_s) continue;
      each.pairs.push_back({launches.version(each.version), good});
      const auto count = static_cast<int>(each.pairs.size());
      if (is_look(count, plan)) each.judgement = judge_both_ways(study, each.pairs, errors);
    }
  }
  return all;
}

/// Returns the least time of three launches of a version. `version`: nullopt for the good version.
double fastest_of_three(Launches& launches, std::optional<std::size_t> version) {
  double fastest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const TrialRecord* run = version ? launches.version(*version) : launches.good();
    fastest = std::min(fastest, run->objectives[0]);
  }
  return fastest;
}

}  // namespace

SearchResult bisect(const BisectionModel& model) {
  Launches launches(model);
  ChangePoint change(model.versions);
  const std::size_t last = model.versions - 1;
  bool bad_is_slower = false;
  std::vector<Scatter> scatters;
  for (;;) {
    if (const auto bad = change.measured(last); bad && !bad_is_slower) {
      const auto slower = is_slower(*bad);
      if (slower && !*slower) break;
      bad_is_slower = slower.value_or(false);
    }
    if (bad_is_slower && change.found(k_bisect_confidence)) break;
    const auto versions =
        bad_is_slower ? change.next(k_most_judged - 1) : change.next_with_bad(k_most_judged - 1);
    const double left_s = model.time_s - launches.count() * model.run_s;
    const double round_s = model.run_s * static_cast<double>(versions.size() + 1);
    if (left_s < std::max(k_least_stage_s, 2.0 * round_s) || versions.empty()) break;
    const double stage_s = change.stage_s(k_bisect_confidence, left_s, model.time_s);
    StudySpec study = judged_study();
    const Scatter earlier = pooled_scatter(scatters);
    study.measure.pair_deviation = earlier.deviation();
    study.measure.pair_freedom = earlier.degrees_of_freedom;
    std::vector<ChangePoint::Observation> stage;
    std::vector<Scatter> of_stage;
    for (const Compared& each : compare(study, versions, stage_s, model.run_s, launches)) {
      if (each.pairs.empty()) continue;
      of_stage.push_back(scatter_of(study, each.pairs));
      const SpeedUp speed_up =
          judge(study, each.pairs, error_of_each(versions.size()), k_launches_by_pairs, true)
              .speed_up;
      const auto measured = slowdown_in_stage(speed_up);
      if (measured) stage.push_back({each.version, measured->value, measured->error});
    }
    scatters.push_back(scatter_of_judgement(of_stage));
    change.observe(std::move(stage));
  }
  SearchResult result;
  if (bad_is_slower) result.named = change.found(k_bisect_confidence);
  result.suspects = change.remaining(k_bisect_confidence).size();
  result.first_slow = launches.first_slow();
  result.runs = launches.count();
  return result;
}

SearchResult bisect_plainly(const BisectionModel& model) {
  Launches launches(model);
  const std::size_t last = model.versions - 1;
  const double limit =
      0.5 * (fastest_of_three(launches, std::nullopt) + fastest_of_three(launches, last));
  std::size_t low = 0;
  std::size_t high = last;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const bool is_slow = fastest_of_three(launches, middle) > limit;
    (is_slow ? high : low) = is_slow ? middle : middle + 1;
  }
  return {low, launches.first_slow(), 1, launches.count()};
}

}  // namespace steptune::bisections
