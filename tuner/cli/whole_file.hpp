// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "common/error.hpp"

namespace steptune {

/// Writes a file atomically: writes a temporary file beside it, flushes, then renames that file
/// over the old one. Replaces the target of a symbolic link, not the link. Keeps permissions.
/// Creates missing folders. Appends to a device, a pipe or this program's stdout (`/dev/stdout`)
/// instead of replacing it.
[[nodiscard]] Result<void> write_whole_file(const std::filesystem::path& file,
                                            std::string_view text);

/// Writes a file that does not exist yet. Returns `usage` if the file exists, or if it is a broken
/// symbolic link.
[[nodiscard]] Result<void> write_new_file(const std::filesystem::path& file, std::string_view text,
                                          mode_t mode = 0644);

/// Checks, as far as possible, that the functions above can write the file. Call it before long
/// work, so that the result of that work is not lost. Returns the same errors.
[[nodiscard]] Result<void> check_writable(const std::filesystem::path& file);

/// Returns the folder of `file`, or the nearest existing folder above it.
[[nodiscard]] std::filesystem::path present_folder_of(const std::filesystem::path& file);

/// Returns the content of a file. Returns `usage` if the file is larger than 16 MiB. Returns
/// `not_found` with the reason if the file cannot be read.
[[nodiscard]] Result<std::string> read_whole_file(const std::filesystem::path& file);

/// Replaces a file's content atomically. Replaces the target of a symbolic link, not the link.
/// Keeps permissions, and the owner if allowed. Returns `conflict` if the content is no longer
/// `expected`.
[[nodiscard]] Result<void> replace_content(const std::filesystem::path& file,
                                           std::string_view expected, std::string_view text);

}  // namespace steptune
