// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptune {

/// Decision whether a running trial is stopped before its end.
struct StopDecision {
  bool stop = false;
  std::string reason;  ///< for a stop: `rung 3 (90 steps): rank 31 of 40, top 13 promoted`
};

}  // namespace steptune
