// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "common/error.hpp"

namespace steptune {

/// Contents by path below the hook's folder.
using HookFiles = std::map<std::string, std::string>;

/// What the hook's folder holds for programs, as it is installed: for trials that do not see the
/// folder itself. A fault where it cannot be read.
[[nodiscard]] Result<HookFiles> read_hook_files(const std::filesystem::path& folder);

/// All of them in one text of letters, digits, `+`, `/` and `=`: a JSON object, compressed (zlib)
/// and in base64. Equal files give equal texts.
[[nodiscard]] std::string packed_text(const HookFiles& files);

}  // namespace steptune
