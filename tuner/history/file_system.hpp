// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace steptune {

/// Whether locks and shared memory can be relied on where a file lies.
enum class FileSystemTrust {
  local,
  doubtful,  ///< passes calls on to something unknown: FUSE, 9p
  network,   ///< another host may write at the same time
};

struct FileSystemKind {
  FileSystemTrust trust = FileSystemTrust::local;
  std::string name;  ///< `NFS`, `FUSE`; empty for local ones
};

/// By the magic number that statfs(2) tells.
[[nodiscard]] FileSystemKind file_system_kind(std::int64_t magic);
/// Of an existing folder; `local` if the system does not tell.
[[nodiscard]] FileSystemKind file_system_of(const std::filesystem::path& folder);

}  // namespace steptune
