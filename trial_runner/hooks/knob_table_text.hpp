// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace steptune {

/// Returns the tables of knobs at build time, as a JSON list: `{"family": "pytorch", "table":
/// ...}`. The first one is the common table, without a family; a null ends the list.
[[nodiscard]] std::string_view knob_table_text();

}  // namespace steptune
