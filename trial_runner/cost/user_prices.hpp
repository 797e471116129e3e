// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

namespace steptune {

/// Returns the directory of this user's own price tables, which precede the installed ones:
/// `$XDG_DATA_HOME/steptune/prices`, by default under `~/.local/share`. nullopt without a home
/// folder.
[[nodiscard]] std::optional<std::filesystem::path> user_price_directory();

}  // namespace steptune
