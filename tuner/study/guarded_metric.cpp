// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tuner/study/study_spec.hpp"

namespace steptune {

bool is_memory_guard(const Guard& guard) {
  return guard.metric == "peak_memory_bytes";
}

std::string judged_metric(const Guard& guard) {
  if (is_memory_guard(guard) || !(guard.after_samples > 0.0)) return guard.metric;
  return fmt::format("{}@{:.0f}", guard.metric, guard.after_samples);
}

double multiple_of_baseline(double ratio, double baseline) {
  return baseline < 0.0 ? 2.0 - ratio : ratio;
}

}  // namespace steptune
