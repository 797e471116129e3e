// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// What the shell of a job's container is sent: the files' contents when this was built.
namespace steptune {

/// run_pack.sh
[[nodiscard]] std::string_view run_pack_text();
/// unpack_hook.sh
[[nodiscard]] std::string_view unpack_hook_text();

}  // namespace steptune
