// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/loading_ceiling.hpp"

#include <fmt/format.h>

namespace steptune {

std::string loading_ceiling_text(double ceiling, bool is_measured) {
  // Two decimals below 1.5: 1.04 times is not worth a change, but 1.1 times is.
  return fmt::format(
      "data loading costs {:.0f} % of a step: at most {:.{}f} times as fast without it{}",
      1e2 * (1.0 - 1.0 / ceiling), ceiling, ceiling < 1.5 ? 2 : 1,
      is_measured ? " (measured with cached batches)" : "");
}

}  // namespace steptune
