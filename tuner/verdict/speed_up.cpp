// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/speed_up.hpp"

#include <algorithm>
#include <cmath>

#include "common/interval.hpp"
#include "common/numbers.hpp"
#include "tuner/verdict/looks.hpp"
#include "tuner/verdict/planned_time.hpp"
#include "tuner/verdict/worth.hpp"

namespace steptune {
namespace {

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
  double half_width = 0.0;  ///< of the latest look
  double low = 0.0;
  double high = 0.0;
};

Looks looks_of(const StudySpec& study, const std::vector<RunPair>& pairs, double error,
               const std::optional<KnownLaunches>& known, LookPlan plan) {
  const auto count = static_cast<int>(pairs.size());
  const auto half_width_at = [&](const PairStatistics& statistics, int look) {
    return statistics.half_width(error_of_look(look, plan, error));
  };
  Looks looks{statistics_of(study, pairs, known)};
  looks.half_width = half_width_at(looks.now, count);
  looks.low = looks.now.mean - looks.half_width;
  looks.high = looks.now.mean + looks.half_width;
  for (const Look& look : looks_until(count, plan)) {
    if (look.pairs < plan.usual || look.pairs >= count) continue;
    const std::vector<RunPair> first(pairs.begin(), pairs.begin() + look.pairs);
    const PairStatistics former = statistics_of(study, first, known);
    const double half_width = half_width_at(former, look.pairs);
    const double low = std::max(looks.low, former.mean - half_width);
    const double high = std::min(looks.high, former.mean + half_width);
    // Skip an earlier look if its interval has no part in common with the interval so far.
    if (!(low <= high) || former.has_ratio != looks.now.has_ratio) continue;
    looks.low = low;
    looks.high = high;
  }
  return looks;
}

/// Returns the speed-up with the interval of this half-width around the mean.
SpeedUp speed_up_within(const StudySpec& study, const std::vector<RunPair>& pairs,
                        const PairStatistics& statistics, double half_width) {
  SpeedUp result;
  result.pairs = static_cast<int>(pairs.size());
  if (!statistics.has_ratio) return result;
  result.ratio = std::exp(statistics.mean);
  if (!std::isfinite(half_width)) return result;
  result.low = std::exp(statistics.mean - half_width);
  result.high = std::exp(statistics.mean + half_width);
  result.low_if_buffered = result.low / hidden_factor(study, pairs);
  result.standard_error = statistics.half_width(k_one_sided_error) / k_z_95;
  // The variance of the difference between the mean of these pairs and the mean of future pairs is
  // the sum of both variances.
  const double both = std::sqrt(1.0 + static_cast<double>(pairs.size()) / least_pairs(study));
  result.repeat_low = std::exp(statistics.mean - both * half_width);
  result.repeat_high = std::exp(statistics.mean + both * half_width);
  return result;
}

SpeedUp speed_up_at(const StudySpec& study, const std::vector<RunPair>& pairs, const Looks& looks) {
  SpeedUp result = speed_up_within(study, pairs, looks.now, looks.half_width);
  if (!std::isfinite(result.low)) return result;
  const double hidden = result.low / result.low_if_buffered;
  result.low = std::exp(looks.low);
  result.high = std::exp(looks.high);
  result.low_if_buffered = result.low / hidden;
  return result;
}

/// Judges by these looks (`judge`).
Judgement judge_looks(const StudySpec& study, const std::vector<RunPair>& pairs, LookPlan plan,
                      const Looks& looks) {
  const int usual = std::max(1, study.measure.confirm_pairs);
  const auto count = static_cast<int>(pairs.size());
  const double precision = study.measure.target_half_width;
  const auto& [now, half_width, low, high] = looks;
  const double worth = std::log1p(study.search.worth);
  const bool has_time = worth > 0.0 && may_use_left_time(study);
  const bool was_last = !has_time && count >= k_most_times_usual * usual;
  const int most = std::max(k_most_times_usual * usual, has_time ? 2 * count : 0);
  // "Faster" needs an interval above `hidden`. Check if the last look can show that with the
  // present mean. The error shrinks with the root of the number of pairs.
  const double hidden = std::log(hidden_factor(study, pairs));
  const double at_last = now.standard_error() * std::sqrt(static_cast<double>(count) / most);
  // Give a finalist up if its present gain would not be significant at its last look.
  const bool out_of_reach = count >= usual && std::isfinite(at_last) &&
                            now.mean - hidden < k_significant_errors * at_last;
  if (low > hidden && count < least_for_claim(study, pairs)) return {Verdict::open, false};
  if (low > hidden) {
    const bool decided = low > worth || high < worth || was_last;
    const bool enough = count >= usual && (decided || !has_time);
    const bool is_known = enough || half_width <= precision;
    return {Verdict::faster, is_known && is_look(count, plan)};
  }
  const bool no_use = count >= std::min(2, usual) && high < std::max(precision, worth);
  const bool may_decide = has_time && now.mean + k_significant_errors * at_last < worth;
  const bool given_up = no_use || (out_of_reach && !may_decide) || was_last;
  // Further whole runs of the same length do not help: a buffer can hide as much in them.
  const bool no_longer = count >= usual && are_repeated_whole_runs(pairs, count);
  if (low > 0.0) return {Verdict::hidden, given_up || no_longer};
  return {given_up ? Verdict::not_faster : Verdict::open, given_up};
}

/// Judges by these looks (`judge_both_ways`). `faster_low`: lower limit for a claim of "faster".
Judgement judge_looks_both_ways(const StudySpec& study, const std::vector<RunPair>& pairs,
                                LookPlan plan, const Looks& looks, double faster_low) {
  const int usual = std::max(1, study.measure.confirm_pairs);
  const auto count = static_cast<int>(pairs.size());
  const bool was_last = !study.budget.time_s && count >= k_most_times_usual * usual;
  if (count < least_for_claim(study, pairs)) return {};
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

SpeedUp speed_up_of_pairs(const StudySpec& study, const std::vector<RunPair>& pairs, double error,
                          const std::optional<KnownLaunches>& known) {
  if (pairs.empty()) return {};
  const PairStatistics statistics = statistics_of(study, pairs, known);
  return speed_up_within(study, pairs, statistics, statistics.half_width(error));
}

Judgement judge(const StudySpec& study, const std::vector<RunPair>& pairs, double error,
                const std::optional<KnownLaunches>& known, bool is_last) {
  if (pairs.empty()) return {};
  const LookPlan plan = plan_of(study, pairs, is_last);
  const Looks looks = looks_of(study, pairs, error, known, plan);
  Judgement result = judge_looks(study, pairs, plan, looks);
  result.speed_up = speed_up_at(study, pairs, looks);
  return result;
}

Judgement judge_both_ways(const StudySpec& study, const std::vector<RunPair>& pairs,
                          const BothErrors& errors, bool is_last) {
  if (pairs.empty()) return {};
  const LookPlan plan = plan_of(study, pairs, is_last);
  const Looks looks = looks_of(study, pairs, errors.other, k_launches_by_pairs, plan);
  const double faster_low =
      errors.faster < errors.other
          ? looks_of(study, pairs, errors.faster, k_launches_by_pairs, plan).low
          : looks.low;
  Judgement result = judge_looks_both_ways(study, pairs, plan, looks, faster_low);
  result.speed_up = speed_up_at(study, pairs, looks);
  return result;
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
