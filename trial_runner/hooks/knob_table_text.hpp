// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace steptune {

/// Returns the content of pytorch/knobs.json at build time.
[[nodiscard]] std::string_view knob_table_text();

}  // namespace steptune
