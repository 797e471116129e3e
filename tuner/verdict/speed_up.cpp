// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/speed_up.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "common/interval.hpp"
#include "common/numbers.hpp"
#include "trial_runner/measure/quantiles.hpp"
#include "tuner/verdict/disturbed_runs.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/looks.hpp"
#include "tuner/verdict/objectives.hpp"
#include "tuner/verdict/pair_error.hpp"
#include "tuner/verdict/planned_time.hpp"
#include "tuner/verdict/worth.hpp"

namespace steptune {
namespace {

/// A finalist is given up if its present gain is smaller than this many standard errors, as
/// expected at its last look.
constexpr double k_within_reach = 2.0;

/// Returns how much better the incumbent is: the logarithm of the values' ratio. If a value is not
/// positive (no `has_ratio`), returns the difference relative to the larger value.
double difference(const StudySpec& study, const RunPair& pair, bool has_ratio) {
  const double incumbent = to_minimized(study.objectives[0], pair.incumbent->objectives[0]);
  const double baseline = to_minimized(study.objectives[0], pair.baseline->objectives[0]);
  if (has_ratio) {
    const double log_ratio = std::log(std::abs(baseline) / std::abs(incumbent));
    return study.objectives[0].direction == Direction::maximize ? -log_ratio : log_ratio;
  }
  const double scale = std::max(std::abs(baseline), std::abs(incumbent));
  return scale > 0.0 ? (baseline - incumbent) / scale : 0.0;
}

bool are_steady(const std::vector<RunPair>& pairs) {
  return std::ranges::all_of(pairs, [](const RunPair& pair) {
    return is_steady(*pair.incumbent) && is_steady(*pair.baseline);
  });
}

bool are_whole_runs(const std::vector<RunPair>& pairs) {
  return std::ranges::all_of(pairs, [](const RunPair& pair) {
    return is_whole_run(*pair.incumbent) && is_whole_run(*pair.baseline);
  });
}

/// True for several pairs of whole runs. Their differences include the variation within the runs.
/// `count`: number of all pairs; `pairs` has the first of them.
bool are_repeated_whole_runs(const std::vector<RunPair>& pairs, int count) {
  const int least = are_steady(pairs) ? 2 : k_least_unsteady_pairs;
  return count >= least && are_whole_runs(pairs);
}

/// True if the two runs of each pair took turns, and enough pairs show the scatter of their ratio.
/// Other programs disturb both runs of such a pair, so each run scatters more than the ratio does.
bool are_interleaved(const std::vector<RunPair>& pairs, int count) {
  return count > k_least_pairs && std::ranges::all_of(pairs, [](const RunPair& pair) {
           return pair.incumbent->placement.contains(k_interleaved_fact) &&
                  pair.baseline->placement.contains(k_interleaved_fact);
         });
}

/// Returns the variance of the pair's log ratio within its runs. `repeated`: other pairs show all
/// further variation, so only the scatter within the runs counts.
double within_variance(const RunPair& pair, bool repeated) {
  if (const double in_turns = ratio_error(*pair.incumbent); std::isfinite(in_turns)) {
    return in_turns * in_turns;
  }
  const auto error = [&](const TrialRecord& run) {
    return repeated ? error_within_run(run) : relative_error(run);
  };
  return std::pow(error(*pair.incumbent), 2) + std::pow(error(*pair.baseline), 2);
}

bool positive(const RunPair& pair) {
  return pair.incumbent->objectives[0] > 0.0 && pair.baseline->objectives[0] > 0.0;
}

/// Share of judgements on an unchanged machine that ignore earlier ones. With 0.05, 5.4 % of
/// campaigns without an improvement kept an edit if launches began to differ by 10 % instead of 3 %
/// (benchmarks/campaigns --later).
constexpr double k_changed_by_chance = 0.2;

/// Returns the scatter of earlier judgements' pairs. Returns none if the present pairs seem to
/// differ more, because the machine may have changed.
Scatter scatter_of_earlier(const StudySpec& study, const Scatter& present) {
  const double freedom = study.measure.pair_freedom;
  if (!(freedom > 0.0)) return {};
  const double variance =
      std::max(std::pow(study.measure.pair_deviation, 2), k_least_pair_variance);
  const double most_by_chance =
      variance * variance_ratio_quantile(present.degrees_of_freedom, freedom, k_changed_by_chance);
  if (present.variance() > most_by_chance) return {};
  return {freedom * variance, freedom};
}

/// Returns the sum of squared deviations of the pairs' sums of logarithms. It shows the runs' own
/// variation and disturbances of both runs. NaN if runs took turns and disturbance is usual
/// (`disturbance_is_usual`). The sums would then mostly show the load of other programs.
double sum_squares_of(const std::vector<RunPair>& pairs) {
  std::vector<double> sums;
  std::vector<const TrialRecord*> in_turns;
  for (const RunPair& pair : pairs) {
    sums.push_back(std::log(std::abs(pair.incumbent->objectives[0])) +
                   std::log(std::abs(pair.baseline->objectives[0])));
    for (const TrialRecord* run : {pair.incumbent, pair.baseline}) {
      if (run->placement.contains(k_interleaved_fact)) in_turns.push_back(run);
    }
  }
  return disturbance_is_usual(in_turns) ? k_nan : scatter_of(sums).squares;
}

/// Returns the plan of looks at these pairs. `is_last`: no further pair follows.
LookPlan plan_of(const StudySpec& study, const std::vector<RunPair>& pairs, bool is_last) {
  LookPlan plan = look_plan(study);
  if (is_last) plan.last = static_cast<int>(pairs.size());
  return plan;
}

/// Returns the factor by which the incumbent may be slower than its runs' intervals allow, because
/// a buffer hides time. The run with the smallest factor counts.
double hidden_factor(const StudySpec& study, const std::vector<RunPair>& pairs) {
  if (!study.objectives.front().is_timed()) return 1.0;
  const bool as_long_as_planned = std::ranges::all_of(pairs, [&](const RunPair& pair) {
    return is_whole_run(*pair.incumbent) &&
           !is_longer_than(study.planned_run, *pair.incumbent->measurement);
  });
  if (as_long_as_planned) return 1.0;
  double least = k_infinity;
  for (const RunPair& pair : pairs) {
    const auto& measurement = pair.incumbent->measurement;
    if (!measurement) return 1.0;
    if (!std::isfinite(measurement->slowest_seconds_per_sample)) return 1.0;
    const double upper = measurement->seconds_per_sample + measurement->half_width_s;
    least = std::min(least, measurement->slowest_seconds_per_sample / upper);
  }
  return std::max(1.0, least);
}

/// The latest statistics, and the common part of the intervals of all looks from the usual number
/// of pairs on.
struct Looks {
  PairStatistics now;
  double low = 0.0;
  double high = 0.0;
};

Looks looks_of(const StudySpec& study, const std::vector<RunPair>& pairs, double error,
               const std::optional<KnownLaunches>& known, LookPlan plan) {
  const auto count = static_cast<int>(pairs.size());
  const auto look_at = [&](int look) {
    const std::vector<RunPair> first(pairs.begin(), pairs.begin() + look);
    return statistics_of(study, first, error_of_look(look, plan, error), known);
  };
  Looks looks{look_at(count)};
  looks.low = looks.now.mean - looks.now.half_width;
  looks.high = looks.now.mean + looks.now.half_width;
  for (const Look& look : looks_until(count, plan)) {
    if (look.pairs < plan.usual || look.pairs >= count) continue;
    const PairStatistics former = look_at(look.pairs);
    const double low = std::max(looks.low, former.mean - former.half_width);
    const double high = std::min(looks.high, former.mean + former.half_width);
    // Skip an earlier look if its interval has no part in common with the interval so far.
    if (!(low <= high) || former.has_ratio != looks.now.has_ratio) continue;
    looks.low = low;
    looks.high = high;
  }
  return looks;
}

}  // namespace

std::string to_text(Verdict verdict) {
  return std::string(k_verdict_names.name_of(verdict));
}

LookPlan look_plan(const StudySpec& study) {
  const int usual = std::max(1, study.measure.confirm_pairs);
  return {study.measure.confirm_all ? usual : std::min(k_least_pairs, usual), usual};
}

int least_pairs(const StudySpec& study) {
  if (study.trials == TrialsIn::attached) return k_least_pairs;
  return std::min(k_least_pairs, std::max(1, study.measure.confirm_pairs));
}

int least_for_claim(const StudySpec& study, const std::vector<RunPair>& pairs) {
  const int least = least_pairs(study);
  if (!are_whole_runs(pairs) || are_steady(pairs)) return least;
  return std::max(least, std::min(k_least_unsteady_pairs, study.measure.confirm_pairs));
}

Scatter scatter_of(const StudySpec& study, const std::vector<RunPair>& pairs) {
  const bool has_ratio = std::ranges::all_of(pairs, positive);
  std::vector<double> differences;
  for (const RunPair& pair : pairs)
    differences.push_back(difference(study, pair, has_ratio));
  return scatter_of(differences);
}

PairStatistics statistics_of(const StudySpec& study, const std::vector<RunPair>& pairs,
                             double error, const std::optional<KnownLaunches>& known) {
  return statistics_after(static_cast<int>(pairs.size()), study, pairs, error, known);
}

PairStatistics statistics_after(int count, const StudySpec& study,
                                const std::vector<RunPair>& pairs, double error,
                                const std::optional<KnownLaunches>& known) {
  PairStatistics result;
  result.has_ratio = std::ranges::all_of(pairs, positive);
  const Scatter differences = scatter_of(study, pairs);
  result.mean = differences.mean;
  PairScatter scatter{static_cast<double>(count), differences.squares};
  if (result.has_ratio) scatter.sum_squares = sum_squares_of(pairs);
  if (count > std::ssize(pairs)) {
    // A single pair shows no scatter, so use its own error instead.
    const bool is_single = pairs.size() == 1;
    const double growth = (count - 1.0) / std::max(1.0, differences.degrees_of_freedom);
    scatter.squares =
        is_single ? growth * std::pow(statistics_of(study, pairs, error, known).standard_error, 2)
                  : growth * differences.squares;
    scatter.sum_squares = is_single ? k_nan : growth * scatter.sum_squares;
  }
  const bool repeated_whole_runs = are_repeated_whole_runs(pairs, count);
  double within = 0.0;
  for (const RunPair& pair : pairs)
    within += within_variance(pair, count > 1) / static_cast<double>(pairs.size());
  const bool is_timed = study.objectives.front().is_timed();
  // Other trials do not show the variation of reported metrics and of runs without a steady state,
  // so only the pairs count.
  const bool only_pairs_count = !is_timed || (repeated_whole_runs && !are_steady(pairs));
  const bool measured_in_pairs = repeated_whole_runs || are_interleaved(pairs, count);
  const auto set_error = [&](const PairError& posterior) {
    result.standard_error = posterior.standard_error();
    result.half_width = posterior.quantile(error);
  };
  if (known && !only_pairs_count) {
    set_error(PairError(scatter, measured_in_pairs ? 0.0 : within, *known));
    return result;
  }
  if (count < 2 || !std::isfinite(scatter.squares)) return result;
  const Scatter earlier = scatter_of_earlier(study, {scatter.squares, count - 1.0});
  if (is_timed) {
    const double least = measured_in_pairs ? k_least_pair_variance : within;
    if (!std::isfinite(least)) return result;
    set_error(PairError::by_pairs(scatter, earlier, std::max(least, k_least_pair_variance)));
    return result;
  }
  const double freedom = count - 1.0 + earlier.degrees_of_freedom;
  const double least = measured_in_pairs ? 0.0 : within;
  const double variance = std::max((scatter.squares + earlier.squares) / freedom, least);
  result.standard_error = std::sqrt(variance / count);
  result.half_width = student_quantile(freedom, error) * result.standard_error;
  return result;
}

SpeedUp speed_up_of_pairs(const StudySpec& study, const std::vector<RunPair>& pairs, double error,
                          const std::optional<KnownLaunches>& known) {
  SpeedUp result;
  if (pairs.empty()) return result;
  result.pairs = static_cast<int>(pairs.size());
  const PairStatistics statistics = statistics_of(study, pairs, error, known);
  if (!statistics.has_ratio) return result;
  result.ratio = std::exp(statistics.mean);
  if (!std::isfinite(statistics.half_width)) return result;
  result.low = std::exp(statistics.mean - statistics.half_width);
  result.high = std::exp(statistics.mean + statistics.half_width);
  result.low_if_buffered = result.low / hidden_factor(study, pairs);
  result.standard_error = statistics_of(study, pairs, k_one_sided_error, known).half_width / k_z_95;
  // The variance of the difference between the mean of these pairs and the mean of future pairs is
  // the sum of both variances.
  const double both = std::sqrt(1.0 + static_cast<double>(pairs.size()) / least_pairs(study));
  result.repeat_low = std::exp(statistics.mean - both * statistics.half_width);
  result.repeat_high = std::exp(statistics.mean + both * statistics.half_width);
  return result;
}

SpeedUp speed_up_over_looks(const StudySpec& study, const std::vector<RunPair>& pairs, double error,
                            const std::optional<KnownLaunches>& known, bool is_last) {
  const LookPlan plan = plan_of(study, pairs, is_last);
  const double of_look = error_of_look(static_cast<int>(pairs.size()), plan, error);
  SpeedUp result = speed_up_of_pairs(study, pairs, of_look, known);
  if (!std::isfinite(result.low)) return result;
  const Looks looks = looks_of(study, pairs, error, known, plan);
  const double hidden = result.low / result.low_if_buffered;
  result.low = std::exp(looks.low);
  result.high = std::exp(looks.high);
  result.low_if_buffered = result.low / hidden;
  return result;
}

Judgement judge(const StudySpec& study, const std::vector<RunPair>& pairs, double error,
                const std::optional<KnownLaunches>& known, bool is_last) {
  if (pairs.empty()) return {};
  const LookPlan plan = plan_of(study, pairs, is_last);
  const int usual = std::max(1, study.measure.confirm_pairs);
  const auto count = static_cast<int>(pairs.size());
  const double precision = study.measure.target_half_width;
  const auto [look, low, high] = looks_of(study, pairs, error, known, plan);
  const double worth = std::log1p(study.search.worth);
  const bool has_time = worth > 0.0 && may_use_left_time(study);
  const bool was_last = !has_time && count >= k_most_times_usual * usual;
  const int most = std::max(k_most_times_usual * usual, has_time ? 2 * count : 0);
  // "Faster" needs an interval above `hidden`. Check if the last look can show that with the
  // present mean. The error shrinks with the root of the number of pairs.
  const double hidden = std::log(hidden_factor(study, pairs));
  const double at_last = look.standard_error * std::sqrt(static_cast<double>(count) / most);
  const bool out_of_reach =
      count >= usual && std::isfinite(at_last) && look.mean - hidden < k_within_reach * at_last;
  if (low > hidden && count < least_for_claim(study, pairs)) return {Verdict::open, false};
  if (low > hidden) {
    const bool decided = low > worth || high < worth || was_last;
    const bool enough = count >= usual && (decided || !has_time);
    const bool is_known = enough || look.half_width <= precision;
    return {Verdict::faster, is_known && is_look(count, plan)};
  }
  const bool no_use = count >= std::min(2, usual) && high < std::max(precision, worth);
  const bool may_decide = has_time && look.mean + k_within_reach * at_last < worth;
  const bool given_up = no_use || (out_of_reach && !may_decide) || was_last;
  // Further whole runs of the same length do not help: a buffer can hide as much in them.
  const bool no_longer = count >= usual && are_repeated_whole_runs(pairs, count);
  if (low > 0.0) return {Verdict::hidden, given_up || no_longer};
  return {given_up ? Verdict::not_faster : Verdict::open, given_up};
}

Judgement judge_both_ways(const StudySpec& study, const std::vector<RunPair>& pairs,
                          const BothErrors& errors, bool is_last) {
  const LookPlan plan = plan_of(study, pairs, is_last);
  const int usual = std::max(1, study.measure.confirm_pairs);
  const auto count = static_cast<int>(pairs.size());
  const bool was_last = !study.budget.time_s && count >= k_most_times_usual * usual;
  if (count < least_for_claim(study, pairs)) return {};
  const Looks looks = looks_of(study, pairs, errors.other, k_launches_by_pairs, plan);
  const double faster_low =
      errors.faster < errors.other
          ? looks_of(study, pairs, errors.faster, k_launches_by_pairs, plan).low
          : looks.low;
  const double margin = std::log1p(study.search.worth);
  std::vector<RunPair> swapped;
  for (const RunPair& pair : pairs)
    swapped.push_back({pair.baseline, pair.incumbent});
  const double slowdown = -std::log1p(study.measure.confirm_slowdown);
  const bool is_limit_open = slowdown < 0.0 && looks.low < slowdown && looks.high > slowdown;
  const bool is_look_now = is_look(count, plan) && (!is_limit_open || was_last);
  if (looks.low > -margin && looks.high < margin) return {Verdict::tied, is_look_now};
  const double hidden = std::log(hidden_factor(study, pairs));
  if (faster_low > hidden) return {Verdict::faster, is_look_now};
  if (looks.high < -std::log(hidden_factor(study, swapped))) return {Verdict::slower, is_look_now};
  const bool excludes_equality = faster_low > 0.0 || looks.high < 0.0;
  return {excludes_equality ? Verdict::hidden : Verdict::open, was_last};
}

SpeedUp speed_up_of_trials(const StudySpec& study, const TrialRecord& incumbent,
                           const TrialRecord& baseline) {
  if (incumbent.number == baseline.number) return {};
  SpeedUp result = speed_up_of_pairs(study, {{&incumbent, &baseline}}, k_one_sided_error);
  result.pairs = 0;
  result.repeat_low = result.repeat_high = k_nan;
  return result;
}

}  // namespace steptune
