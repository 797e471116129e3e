// SPDX-License-Identifier: Apache-2.0
#include "tuner/analysis/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/interval.hpp"
#include "trial_runner/cost/usage_cost.hpp"

namespace steptune {
namespace {

/// Returns the 95 % interval of a positive quantity whose logarithm is normal.
Estimate around(double value, double relative_error) {
  const double factor = std::exp(k_z_95 * relative_error);
  return {value, value / factor, value * factor};
}

Estimate scaled(const Estimate& estimate, double factor) {
  return {estimate.mean * factor, estimate.low * factor, estimate.high * factor};
}

/// Mean of one configuration's runs, weighted by inverse variance.
struct ConfigurationMean {
  /// Run that tables show for the configuration: its first candidate, otherwise its first run.
  const ScalingRun* shown = nullptr;
  bool completed = false;
  double weights = 0.0;
  double log_sum = 0.0;

  void add(const ScalingRun& run) {
    if (shown == nullptr || (run.is_candidate && !shown->is_candidate)) shown = &run;
    completed = completed || run.completed;
    const double relative = run.standard_error_s / run.time_s;
    weights += 1.0 / (relative * relative);
    log_sum += std::log(run.time_s) / (relative * relative);
  }
  [[nodiscard]] double time_s() const { return std::exp(log_sum / weights); }
  [[nodiscard]] double relative_error() const { return 1.0 / std::sqrt(weights); }
};

struct ByConfiguration {
  bool operator()(const Configuration* a, const Configuration* b) const { return *a < *b; }
};

/// True if `a` is better than `b`: completed before not completed, then faster before slower. Equal
/// times are ordered by text, so the result does not depend on the order of the runs.
bool is_better(const ConfigurationMean& a, const ConfigurationMean& b) {
  const auto key = [](const ConfigurationMean& mean) {
    return std::pair(!mean.completed, mean.time_s());
  };
  const auto key_of_a = key(a);
  const auto key_of_b = key(b);
  if (key_of_a != key_of_b) return key_of_a < key_of_b;
  return a.shown->configuration.text() < b.shown->configuration.text();
}

ScalingCount best_at(double count, const std::vector<const ScalingRun*>& runs) {
  std::map<const Configuration*, ConfigurationMean, ByConfiguration> means;
  std::size_t trials = 0;
  for (const ScalingRun* run : runs) {
    if (run->is_candidate) ++trials;
    means[&run->configuration].add(*run);
  }
  const ConfigurationMean& best = std::ranges::min_element(means, [](const auto& a, const auto& b) {
                                    return is_better(a.second, b.second);
                                  })->second;
  ScalingCount result;
  result.count = count;
  result.trial = best.shown->trial;
  result.configuration = best.shown->configuration;
  result.trials = trials;
  result.completed = best.completed;
  result.relative_error = best.relative_error();
  result.time_s = around(best.time_s(), result.relative_error);
  result.cost = scaled(result.time_s, usage_usd(best.shown->price_per_hour, 1.0));
  return result;
}

/// Sets each count's speed-up over the first count. If `with_efficiency`, also sets efficiency and
/// marginal gain.
void compare_with_first(std::vector<ScalingCount>& counts, bool with_efficiency) {
  const ScalingCount& first = counts.front();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    ScalingCount& here = counts[i];
    const double error = i == 0 ? 0.0 : std::hypot(here.relative_error, first.relative_error);
    here.speed_up = around(first.time_s.mean / here.time_s.mean, error);
    if (!with_efficiency) continue;
    here.efficiency = scaled(here.speed_up, first.count / here.count);
    if (i == 0) continue;
    const ScalingCount& before = counts[i - 1];
    const double gained = here.speed_up.mean - before.speed_up.mean;
    const double added = (here.count - before.count) / first.count;
    // Both speed-ups are ratios to the first count's speed, so its error scales their difference.
    // The first count's own speed-up is exactly 1 and has no error.
    const double error_of_first =
        (i == 1 ? here.speed_up.mean : here.speed_up.mean - before.speed_up.mean) *
        first.relative_error;
    const double error_of_before = i == 1 ? 0.0 : before.speed_up.mean * before.relative_error;
    const double error_of_gain =
        std::hypot(here.speed_up.mean * here.relative_error, error_of_before, error_of_first) /
        added;
    here.marginal_gain = Estimate{gained / added, gained / added - k_z_95 * error_of_gain,
                                  gained / added + k_z_95 * error_of_gain};
  }
}

std::optional<ScalingKnee> find_knee(const Scaling& scaling) {
  if (scaling.fits.empty()) return std::nullopt;
  const double first = scaling.counts.front().count;
  const double most = scaling.counts.back().count;
  std::set<double> between;
  for (const ScalingCount& count : scaling.counts)
    between.insert(count.count);
  for (const double count : scaling.question.possible_counts) {
    if (count > first && count < most) between.insert(count);
  }
  const std::vector<double> counts(between.begin(), between.end());
  const Estimate knee = estimate_by_plausible_laws(scaling.fits, [&](const ScalingCurve& curve) {
    return knee_of(curve, counts, scaling.question.min_efficiency);
  });
  return ScalingKnee{knee.mean, knee.low, knee.high, /*is_last=*/knee.mean >= most};
}

const ScalingCount& nearest_to(const std::vector<ScalingCount>& counts, double count) {
  return *std::ranges::min_element(counts, {}, [count](const ScalingCount& each) {
    return std::abs(std::log(each.count / count));
  });
}

/// Returns the unmeasured counts for which a law is good enough.
std::vector<double> counts_to_predict(const Scaling& scaling) {
  constexpr std::size_t k_most_predictions = 64;
  const double greatest = scaling.counts.back().count;
  std::vector<double> counts;
  for (const double count : scaling.question.possible_counts) {
    const bool measured =
        std::ranges::find(scaling.counts, count, &ScalingCount::count) != scaling.counts.end();
    // Predict nothing above twice the largest measured count: a few counts do not determine a law
    // so far away.
    if (!measured && count >= 1.0 && count <= 2.0 * greatest) counts.push_back(count);
  }
  if (counts.size() <= k_most_predictions) return counts;
  std::vector<double> thinned;
  for (std::size_t i = 0; i < k_most_predictions; ++i)
    thinned.push_back(counts[i * (counts.size() - 1) / (k_most_predictions - 1)]);
  return thinned;
}

std::vector<ScalingPrediction> predict(const Scaling& scaling) {
  std::vector<ScalingPrediction> predictions;
  if (scaling.fits.empty()) return predictions;
  const double least = scaling.counts.front().count;
  const double greatest = scaling.counts.back().count;
  for (const double count : counts_to_predict(scaling)) {
    const auto price =
        scaling.question.price_per_hour(nearest_to(scaling.counts, count).configuration, count);
    if (!price) continue;
    const Estimate time = estimate_by_plausible_laws(
        scaling.fits, [count](const ScalingCurve& curve) { return curve.time_s(count); });
    predictions.push_back(
        {count, time, scaled(time, usage_usd(*price, 1.0)), count < least || count > greatest});
  }
  return predictions;
}

std::optional<ScalingChoice> choose_cheapest(const Scaling& scaling) {
  const std::optional<double> deadline = scaling.question.deadline_s;
  std::optional<ScalingChoice> best;
  const auto offer = [&](const ScalingChoice& choice) {
    if (deadline && choice.time_s.mean > *deadline) return;
    const auto key = [](const ScalingChoice& each) {
      return std::tuple(!each.surely_in_time, each.cost.mean, each.count);
    };
    if (!best || key(choice) < key(*best)) best = choice;
  };
  const auto surely_in_time = [&](const Estimate& time) {
    return !deadline || time.high <= *deadline;
  };
  for (const ScalingCount& count : scaling.counts)
    offer({count.count, /*measured=*/true, surely_in_time(count.time_s), count.time_s, count.cost});
  if (!deadline) return best;
  // The cheapest count that meets the deadline may lie between two measured counts, so also
  // consider predictions there. Beyond the measured counts the laws are not reliable enough.
  for (const ScalingPrediction& each : scaling.predictions) {
    if (!each.beyond_measured)
      offer({each.count, /*measured=*/false, surely_in_time(each.time_s), each.time_s, each.cost});
  }
  return best;
}

/// Fits the laws to the counts, and computes how well the points support them. If no law can be
/// fitted, sets `why_no_law` instead.
void fit_laws(Scaling& scaling) {
  if (!scaling.question.equal_machines) {
    scaling.why_no_law = "the machines are of several kinds, and a scaling law needs equal ones";
    return;
  }
  if (scaling.counts.front().count < 1.0) {
    scaling.why_no_law =
        fmt::format("{} is less than 1 in some trials: it cannot be a count of machines",
                    scaling.question.count_parameter);
    return;
  }
  std::vector<ScalingPoint> points;
  for (const ScalingCount& count : scaling.counts)
    points.push_back({count.count, count.time_s.mean, count.relative_error});
  scaling.fits = fit_scaling_laws(points, scaling.question.error_degrees_of_freedom);
  if (scaling.fits.empty()) {
    scaling.why_no_law =
        "only one count was measured: fitting a law needs two, and choosing among the laws needs "
        "four";
    return;
  }
  const ScalingFit& first = scaling.fits.front();
  // Evidence for the family of the best law: laws of constant work, or laws of growing work.
  double family_weight = 0.0;
  for (const ScalingFit& fit : scaling.fits) {
    if (work_grows(fit.best.law) == work_grows(first.best.law)) family_weight += fit.weight;
  }
  constexpr double k_deciding_odds = 10.0;
  const bool all_compared =
      std::ranges::all_of(scaling.fits, [](const ScalingFit& fit) { return fit.aicc.has_value(); });
  scaling.law_family_is_decided =
      all_compared && family_weight >= k_deciding_odds / (1.0 + k_deciding_odds);
  if (first.degrees_of_freedom > 0.0) {
    scaling.scatter = std::max(1.0, std::sqrt(first.chi_squared / first.degrees_of_freedom));
  }
}

}  // namespace

bool work_grows(ScalingLaw law) {
  return law == ScalingLaw::gustafson || law == ScalingLaw::gustafson_log;
}

std::vector<ScalingCount> best_by_count(const std::vector<ScalingRun>& runs) {
  std::map<double, std::vector<const ScalingRun*>> by_count;
  for (const ScalingRun& run : runs)
    by_count[run.count].push_back(&run);
  std::vector<ScalingCount> counts;
  for (const auto& [count, there] : by_count)
    counts.push_back(best_at(count, there));
  return counts;
}

Scaling scaling_of(const std::vector<ScalingRun>& runs, ScalingQuestion question) {
  Scaling scaling;
  scaling.question = std::move(question);
  scaling.counts = best_by_count(runs);
  if (scaling.counts.empty()) {
    scaling.why_no_law = "no trial was measured";
    return scaling;
  }
  // A parameter that can be below 1 counts no machines, so there is no efficiency per machine.
  const bool has_efficiency =
      scaling.question.equal_machines && scaling.counts.front().count >= 1.0;
  compare_with_first(scaling.counts, has_efficiency);
  fit_laws(scaling);
  if (has_efficiency) scaling.knee = find_knee(scaling);
  scaling.predictions = predict(scaling);
  scaling.cheapest = choose_cheapest(scaling);
  return scaling;
}

}  // namespace steptune
