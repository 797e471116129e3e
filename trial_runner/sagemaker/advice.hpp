// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/sagemaker/instance_metrics.hpp"

namespace steptune {

/// When a utilisation is worth a word.
struct AdviceThresholds {
  double busy = 0.85;        ///< cores, median: saturated from here
  double waiting = 0.7;      ///< accelerators, median: kept waiting up to here
  double unused = 0.05;      ///< accelerators, most: the program does not use them
  double idle = 0.3;         ///< cores and accelerators, most: never more than this
  double full = 0.9;         ///< memory and disk, most: near the limit from here
  double download_s = 30.0;  ///< shorter downloads are not worth changing anything
};

struct Advice {
  std::string topic;  ///< the same for the same advice on the same machines
  std::string text;
};

/// What the utilisation of a job's machines says about them: cores saturated while accelerators
/// wait (with the cores that would keep them busy, and the cheapest addition of `types` that has
/// them), accelerators that are not used, machines that idle, memory or disk near the limit,
/// downloads longer than the training. Nothing that was not told is concluded from.
[[nodiscard]] std::vector<Advice> advise(const JobUtilisation& utilisation, const PriceTable& types,
                                         const AdviceThresholds& thresholds = {});

}  // namespace steptune
