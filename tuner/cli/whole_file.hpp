// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "common/error.hpp"

namespace steptune {

/// Writes a file that appears whole or not at all, whatever happens meanwhile: beside its place,
/// flushed, then renamed over what was there. The file that a symbolic link leads to is replaced,
/// not the link. Missing folders are made. A device, a pipe and what stdout is (`/dev/stdout`) are
/// written into.
[[nodiscard]] Result<void> write_whole_file(const std::filesystem::path& file,
                                            std::string_view text);

/// The same where nothing is there yet; `usage` where anything is, a broken link included.
[[nodiscard]] Result<void> write_new_file(const std::filesystem::path& file, std::string_view text,
                                          mode_t mode = 0644);

/// Whether the two may write this file, as far as that can be told before: what takes long is not
/// done in vain. The same errors.
[[nodiscard]] Result<void> check_writable(const std::filesystem::path& file);

/// The folder of `file`; of those above it the first one that exists, where it does not yet.
[[nodiscard]] std::filesystem::path present_folder_of(const std::filesystem::path& file);

/// All of a file, 16 MiB at most; `not_found` with the reason where it cannot be read.
[[nodiscard]] Result<std::string> read_whole_file(const std::filesystem::path& file);

/// Puts `text` in place of what a file holds, in the same way. The file that a symbolic link leads
/// to is replaced, not the link; permissions stay, and the owner where that is allowed. `conflict`
/// if the file no longer holds `expected`.
[[nodiscard]] Result<void> replace_content(const std::filesystem::path& file,
                                           std::string_view expected, std::string_view text);

}  // namespace steptune
