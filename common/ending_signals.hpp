// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <csignal>

namespace steptune {

/// Signals that ask the program to end.
inline constexpr std::array k_ending_signals{SIGINT, SIGTERM, SIGHUP};

}  // namespace steptune
