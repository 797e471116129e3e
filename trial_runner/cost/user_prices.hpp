// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

namespace steptune {

/// Where this user's own price tables are kept, which go before those of the installation:
/// `$XDG_DATA_HOME/steptune/prices`, by default under `~/.local/share`. Nothing without a home.
[[nodiscard]] std::optional<std::filesystem::path> user_price_directory();

}  // namespace steptune
