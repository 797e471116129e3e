// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/loading_ceiling.hpp"

#include <fmt/format.h>

namespace steptune {
namespace {

/// Ceilings below this are shown with two digits, because 1.04 is not worthwhile, but 1.1 is.
constexpr double k_needs_two_digits = 1.5;

}  // namespace

std::string loading_ceiling_text(double ceiling, bool is_measured) {
  return fmt::format(
      "data loading costs {:.0f} % of a step: at most {:.{}f} times as fast without it{}",
      1e2 * (1.0 - 1.0 / ceiling), ceiling, ceiling < k_needs_two_digits ? 2 : 1,
      is_measured ? " (measured with cached batches)" : "");
}

}  // namespace steptune
