// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/sagemaker/instance_metrics.hpp"

namespace steptune {

struct Advice {
  std::string topic;  ///< equal for repeated advice about the same machines
  std::string text;
};

/// Derives advice from the utilisation of a job's machines. Gives no advice on values that are
/// missing.
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
