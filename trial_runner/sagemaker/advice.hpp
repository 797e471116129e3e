// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/sagemaker/instance_metrics.hpp"

namespace steptune {

/// Limits beyond which a job's utilisation leads to advice.
struct AdviceThresholds {
  double busy = 0.85;        ///< cores, median: saturated from here on
  double waiting = 0.7;      ///< accelerators, median: kept waiting at or below this
  double unused = 0.05;      ///< accelerators, maximum: unused at or below this
  double idle = 0.3;         ///< cores and accelerators, maximum: idle at or below this
  double full = 0.9;         ///< memory and disk, maximum: near the limit from here on
  double download_s = 30.0;  ///< ignore shorter downloads
};

struct Advice {
  std::string topic;  ///< equal for equal advice about equal machines
  std::string text;
};

/// Derives advice from the utilisation of a job's machines. Missing figures lead to no advice.
///
/// - Cores saturated while accelerators wait: names the number of cores that would keep them busy,
///   and the cheapest addition from `types` that has them.
/// - Accelerators unused, or machines idle.
/// - Memory or disk near the limit.
/// - Downloads longer than the training.
[[nodiscard]] std::vector<Advice> advise(const JobUtilisation& utilisation, const PriceTable& types,
                                         const AdviceThresholds& thresholds = {});

}  // namespace steptune
