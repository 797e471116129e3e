// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "common/error.hpp"

namespace steptune {

/// File contents by path below the hook's folder.
using HookFiles = std::map<std::string, std::string>;

/// Reads the files of the installed hook, for trials that cannot see its folder. If the hook's
/// request in `variables` names families of frameworks, leaves out the other families. Returns an
/// error if the files cannot be read.
[[nodiscard]] Result<HookFiles> read_hook_files(
    const std::filesystem::path& folder, const std::map<std::string, std::string>& variables = {});

/// Packs all files into one text of letters, digits, `+`, `/` and `=`: a JSON object, compressed
/// (zlib), in base64. Equal files give equal texts.
[[nodiscard]] std::string packed_text(const HookFiles& files);

}  // namespace steptune
