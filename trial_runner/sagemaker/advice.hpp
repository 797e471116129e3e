// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/sagemaker/instance_metrics.hpp"

namespace steptune {

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
[[nodiscard]] std::vector<Advice> advise(const JobUtilisation& utilisation,
                                         const PriceTable& types);

}  // namespace steptune
