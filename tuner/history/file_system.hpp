// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace steptune {

/// Reliability of locks and shared memory on a file system.
enum class FileSystemTrust {
  local,
  doubtful,  ///< the file system behind FUSE or 9p is unknown
  network,   ///< another host may write at the same time
};

struct FileSystemKind {
  FileSystemTrust trust = FileSystemTrust::local;
  std::string name;  ///< `NFS`, `FUSE`; empty for local file systems
};

/// Returns the kind for the magic number from statfs(2).
[[nodiscard]] FileSystemKind file_system_kind(std::int64_t magic);
/// Returns the kind for an existing folder; `local` if `statfs` fails or its magic number is
/// unknown.
[[nodiscard]] FileSystemKind file_system_of(const std::filesystem::path& folder);

}  // namespace steptune
