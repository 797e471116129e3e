// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// Shell scripts for a job's container. The build compiles the files' contents into the program.
namespace steptune {

/// Returns run_pack.sh.
[[nodiscard]] std::string_view run_pack_text();
/// Returns unpack_hook.sh.
[[nodiscard]] std::string_view unpack_hook_text();

}  // namespace steptune
