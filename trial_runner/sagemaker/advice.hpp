// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/sagemaker/instance_metrics.hpp"

namespace steptune {

/// Limits beyond which a job's utilisation leads to advice. Values are shares, except the last.
struct AdviceThresholds {
  double busy = 0.85;        ///< median of cores; saturated at or above this
  double waiting = 0.7;      ///< median of accelerators; waiting for data at or below this
  double unused = 0.05;      ///< maximum of accelerators; unused at or below this
  double idle = 0.3;         ///< maximum of cores and accelerators; idle at or below this
  double full = 0.9;         ///< maximum of memory and disk; near the limit at or above this
  double download_s = 30.0;  ///< ignore shorter downloads
};

struct Advice {
  std::string topic;  ///< key by which repeated advice about equal machines is recognised
  std::string text;
};

/// Derives advice from the utilisation of a job's machines. Missing figures lead to no advice.
///
/// - Cores saturated while accelerators wait: names the number of cores that would keep the
///   accelerators busy. Also names the cheapest instances that have the missing cores: at most four
///   of one type in `types`, without accelerators.
/// - Accelerators unused, or machines idle.
/// - Memory or disk near the limit.
/// - Downloads longer than the training.
[[nodiscard]] std::vector<Advice> advise(const JobUtilisation& utilisation, const PriceTable& types,
                                         const AdviceThresholds& thresholds = {});

}  // namespace steptune
