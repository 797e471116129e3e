// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Seconds between two checks if a child process has ended.
inline constexpr double k_child_poll_s = 0.02;

}  // namespace steptune
