// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace steptune {

/// The content of pytorch/knobs.json when this was built.
[[nodiscard]] std::string_view knob_table_text();

}  // namespace steptune
