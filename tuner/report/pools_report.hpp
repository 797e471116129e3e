// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "common/json.hpp"
#include "trial_runner/held_machines.hpp"

namespace steptune {

/// For people: a table, what it costs together, and what to do about it. Where the table is wider
/// than `width` columns (0: no limit), what a job's name tells, too, goes first, then what the
/// price is made of, times, the bill so far and the machines; at last names are cut in their
/// middle. Commands stay whole.
[[nodiscard]] std::string pools_text(const HeldMachinesReport& view,
                                     const HeldMachinesService& service, std::size_t width);
[[nodiscard]] Json pools_json(const HeldMachinesReport& view);

}  // namespace steptune
