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

/// One measured run, as the scaling curve is drawn from it.
struct ScalingRun {
  std::int64_t trial = 0;
  double count = 0.0;  ///< machines, processes or GPUs
  Configuration configuration;
  bool completed = true;   ///< false: the scheduler stopped it before it was measured in full
  bool selectable = true;  ///< false: a repetition, which only makes its configuration surer
  double time_s = 0.0;
  double standard_error_s = 0.0;  ///< positive; that of the configuration, among launches
  double price_per_hour = 0.0;    ///< of all machines together, in the unit of cost
};

/// The best configuration at one count.
struct ScalingCount {
  double count = 0.0;
  std::int64_t trial = 0;
  Configuration configuration;
  std::size_t trials = 0;  ///< that were measured at this count
  bool completed = true;   ///< false: all trials at this count were stopped early
  Estimate time_s;         ///< mean over the configuration's runs
  double relative_error = 0.0;
  Estimate cost;
  Estimate speed_up;  ///< over the first count
  /// Speed-up over the ratio of the counts. Nothing where the machines are of several kinds.
  std::optional<Estimate> efficiency;
  /// Speed that each further machine since the count before added, as a share of what each of the
  /// first count's has. Nothing for the first count.
  std::optional<Estimate> added_pays;
};

/// What a law says of a count that was not measured.
struct ScalingPrediction {
  double count = 0.0;
  Estimate time_s;
  Estimate cost;
  bool beyond = false;  ///< outside of the counts that were measured
};

/// Where another machine begins to pay less than is asked for.
struct ScalingKnee {
  double count = 0.0;
  double low = 0.0;  ///< 95 % interval
  double high = 0.0;
  bool is_last = false;  ///< as far as was measured, every machine pays
};

/// The count that costs least among those that end in time.
struct ScalingChoice {
  double count = 0.0;
  bool measured = true;  ///< false: by the law
  bool surely = true;    ///< the upper end of its time is in time, too
  Estimate time_s;
  Estimate cost;
};

struct ScalingQuestion {
  std::string over;             ///< the parameter that counts machines
  double min_efficiency = 0.7;  ///< that another machine is to pay, in (0, 1]
  std::optional<double> deadline_s;
  /// Machines of one kind: only then is there a law.
  bool alike = true;
  double error_degrees_of_freedom = 3.0;
  /// Counts that may be asked for, in order, and the price per hour there, given the configuration
  /// of the nearest measured count; nothing where that configuration cannot have this count.
  std::vector<double> possible_counts;
  std::function<std::optional<double>(const Configuration& nearest, double count)> price_per_hour;
};

/// Time, cost and efficiency against the number of machines, and what explains it.
struct Scaling {
  ScalingQuestion question;
  std::vector<ScalingCount> counts;  ///< in order
  std::vector<ScalingFit> fits;      ///< the law that is best supported first; may be empty
  /// Whether the family of the first law (the same work, or work that grows) is told from the other
  /// at odds of 10 to 1, all laws being compared.
  bool law_told = false;
  /// Standard deviation of the points around the first law, over what their errors explain; 1 where
  /// that cannot be told.
  double scatter = 1.0;
  std::vector<ScalingPrediction> predictions;
  std::optional<ScalingKnee> knee;
  std::optional<ScalingChoice> cheapest;  ///< in time where there is a deadline
  std::string unknown;                    ///< why there is no law, for people; else empty
};

/// The best configuration at each count, in order of count, compared with no other count.
[[nodiscard]] std::vector<ScalingCount> best_by_count(const std::vector<ScalingRun>& runs);

/// Takes at each count the configuration with the least time (completed ones before those that were
/// stopped early), compares and explains. Runs have positive, finite times and errors.
[[nodiscard]] Scaling scaling_of(const std::vector<ScalingRun>& runs, ScalingQuestion question);

/// True for the laws in which the work of a step grows with the machines.
[[nodiscard]] bool work_grows(ScalingLaw law);

}  // namespace steptune
