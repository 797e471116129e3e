// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/json.hpp"
#include "trial_runner/held_machines.hpp"

namespace steptune {

/// For people: a table, what it costs together, and what to do about it.
[[nodiscard]] std::string pools_text(const HeldMachinesReport& view,
                                     const HeldMachinesService& service);
[[nodiscard]] Json pools_json(const HeldMachinesReport& view);

}  // namespace steptune
