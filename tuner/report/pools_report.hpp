// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "common/json.hpp"
#include "trial_runner/held_machines.hpp"

namespace steptune {

/// Returns a table, the total cost, and advice, for people. If the table is wider than `width`
/// columns (0: no limit), drops columns. It first drops facts that a job's name includes, then
/// parts of the price, times, the bill so far, the machines. Then cuts names in the middle.
/// Commands are never cut.
[[nodiscard]] std::string pools_text(const HeldMachinesReport& view,
                                     const HeldMachinesService& service, std::size_t width);
[[nodiscard]] Json pools_json(const HeldMachinesReport& view);

}  // namespace steptune
