// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/pair_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "common/numbers.hpp"
#include "trial_runner/measure/quantiles.hpp"
#include "tuner/verdict/disturbed_runs.hpp"
#include "tuner/verdict/objectives.hpp"

namespace steptune {
namespace {

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

}  // namespace

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

bool are_repeated_whole_runs(const std::vector<RunPair>& pairs, int count) {
  const int least = are_steady(pairs) ? 2 : k_least_unsteady_pairs;
  return count >= least && are_whole_runs(pairs);
}

Scatter scatter_of(const StudySpec& study, const std::vector<RunPair>& pairs) {
  const bool has_ratio = std::ranges::all_of(pairs, positive);
  std::vector<double> differences;
  for (const RunPair& pair : pairs)
    differences.push_back(difference(study, pair, has_ratio));
  return scatter_of(differences);
}

double PairStatistics::standard_error() const {
  return error ? error->standard_error() : k_infinity;
}

double PairStatistics::half_width(double one_sided_error) const {
  return error ? error->quantile(one_sided_error) : k_infinity;
}

PairStatistics statistics_of(const StudySpec& study, const std::vector<RunPair>& pairs,
                             const std::optional<KnownLaunches>& known) {
  return statistics_after(static_cast<int>(pairs.size()), study, pairs, known);
}

PairStatistics statistics_after(int count, const StudySpec& study,
                                const std::vector<RunPair>& pairs,
                                const std::optional<KnownLaunches>& known) {
  PairStatistics result;
  result.has_ratio = std::ranges::all_of(pairs, positive);
  const bool is_timed = study.objectives.front().is_timed();
  const Scatter differences = scatter_of(study, pairs);
  result.mean = differences.mean;
  PairScatter scatter{static_cast<double>(count), differences.squares};
  if (is_timed && result.has_ratio) scatter.sum_squares = sum_squares_of(pairs);
  if (count > std::ssize(pairs)) {
    // A single pair shows no scatter, so use its own error instead.
    const bool is_single = pairs.size() == 1;
    const double growth = (count - 1.0) / std::max(1.0, differences.degrees_of_freedom);
    scatter.squares =
        is_single ? growth * std::pow(statistics_of(study, pairs, known).standard_error(), 2)
                  : growth * differences.squares;
    scatter.sum_squares = is_single ? k_nan : growth * scatter.sum_squares;
  }
  const bool repeated_whole_runs = are_repeated_whole_runs(pairs, count);
  const bool measured_in_pairs = repeated_whole_runs || are_interleaved(pairs, count);
  double within = 0.0;
  for (const RunPair& pair : pairs) {
    if (measured_in_pairs) break;
    within += within_variance(pair, count > 1) / static_cast<double>(pairs.size());
  }
  // Other trials do not show the variation of reported metrics and of runs without a steady state,
  // so only the pairs count.
  const bool only_pairs_count = !is_timed || (repeated_whole_runs && !are_steady(pairs));
  if (known && !only_pairs_count) {
    result.error = PairError(scatter, within, *known);
  } else if (count >= 2 && std::isfinite(scatter.squares) && std::isfinite(within)) {
    const Scatter earlier = scatter_of_earlier(study, {scatter.squares, count - 1.0});
    result.error = PairError::by_pairs(scatter, earlier, std::max(within, k_least_pair_variance));
  }
  return result;
}

}  // namespace steptune
