// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/configuration.hpp"
#include "search/scaling/scaling_law.hpp"

namespace steptune {

/// One measured run, as a point of the scaling curve.
struct ScalingRun {
  std::int64_t trial = 0;
  double count = 0.0;  ///< number of machines, processes or GPUs
  Configuration configuration;
  bool completed = true;  ///< false: the scheduler stopped the run before it was fully measured
  /// True for the baseline and trials of the search, which can be chosen. False for confirming runs
  /// and sentinels, which only add to their configuration's mean.
  bool is_candidate = true;
  double time_s = 0.0;
  double standard_error_s = 0.0;  ///< positive; includes the variation among launches
  double price_per_hour = 0.0;    ///< price of all machines together, in the unit of cost
};

/// The best configuration at one count.
struct ScalingCount {
  double count = 0.0;
  std::int64_t trial = 0;
  Configuration configuration;
  std::size_t trials = 0;  ///< number of candidates measured at this count
  bool completed = true;   ///< false: all trials at this count were stopped early
  Estimate time_s;         ///< mean over the configuration's runs
  double relative_error = 0.0;
  Estimate cost;
  Estimate speed_up;  ///< speed relative to the first count
  /// Speed-up divided by the ratio of the counts. nullopt if the machines are of several kinds.
  std::optional<Estimate> efficiency;
  /// Speed that each machine beyond the previous count adds. The unit is the speed of one machine
  /// at the first count. Unset for the first count, and if the machines are of several kinds.
  std::optional<Estimate> marginal_gain;
};

/// Prediction of a law for a count that was not measured.
struct ScalingPrediction {
  double count = 0.0;
  Estimate time_s;
  Estimate cost;
  bool beyond_measured = false;  ///< true if the count is outside the measured range
};

/// Count beyond which a further machine is less efficient than required (`knee_of`).
struct ScalingKnee {
  double count = 0.0;
  double low = 0.0;  ///< 95 % interval
  double high = 0.0;
  /// True if all machines up to the largest measured count are efficient enough.
  bool is_last = false;
};

/// The cheapest count. With a deadline: the cheapest that surely meets it; if none does, the
/// cheapest whose mean time meets it.
struct ScalingChoice {
  double count = 0.0;
  bool measured = true;  ///< false: predicted by the law
  /// True if the upper end of the time's interval also meets the deadline.
  bool surely_in_time = true;
  Estimate time_s;
  Estimate cost;
};

struct ScalingQuestion {
  std::string count_parameter;  ///< parameter that counts machines
  double min_efficiency = 0.7;  ///< least efficiency of a further machine, in (0, 1]
  std::optional<double> deadline_s;
  /// True if all machines are of one kind. Otherwise no law applies.
  bool equal_machines = true;
  double error_degrees_of_freedom = 3.0;
  /// Possible counts, in order, and the price per hour at a count, given the configuration of the
  /// nearest measured count. The price is nullopt if that configuration cannot have this count.
  std::vector<double> possible_counts;
  std::function<std::optional<double>(const Configuration& nearest, double count)> price_per_hour;
};

/// Time, cost and efficiency by the number of machines, and the laws that explain them.
struct Scaling {
  ScalingQuestion question;
  std::vector<ScalingCount> counts;  ///< in ascending order
  std::vector<ScalingFit> fits;      ///< best supported law first; may be empty
  /// There are two families of laws: constant work, and work that grows with the machines. True if
  /// all laws can be compared, and the points favour the first law's family at odds of 10 to 1.
  bool law_family_is_decided = false;
  /// Standard deviation of the points around the first law, relative to their errors; 1 if unknown.
  double scatter = 1.0;
  std::vector<ScalingPrediction> predictions;
  std::optional<ScalingKnee> knee;
  std::optional<ScalingChoice> cheapest;  ///< nullopt: no count meets the deadline
  std::string why_no_law;                 ///< text for people: why there is no law; otherwise empty
};

/// Returns the best configuration at each count, in order of count, without comparing counts.
[[nodiscard]] std::vector<ScalingCount> best_by_count(const std::vector<ScalingRun>& runs);

/// Compares and explains the best configurations. At each count, the best configuration has the
/// least time; completed runs have precedence over runs that were stopped early. Runs must have
/// positive, finite times and errors.
[[nodiscard]] Scaling scaling_of(const std::vector<ScalingRun>& runs, ScalingQuestion question);

/// True for laws in which the work of a step grows with the machines.
[[nodiscard]] bool work_grows(ScalingLaw law);

}  // namespace steptune
