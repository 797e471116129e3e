// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trial_runner/machine_second.hpp"

namespace steptune {

/// Returns a text for people: `waiting for storage rose from 2 % to 31 % of the time`.
[[nodiscard]] std::string machine_text(const MachineFigureChange& change);

}  // namespace steptune
