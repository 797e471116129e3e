// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace steptune {

/// The content of run_pack.sh when this was built.
[[nodiscard]] std::string_view run_pack_text();

}  // namespace steptune
