// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/machine/system_files.hpp"

namespace steptune::local {

/// A file that a process has open, has mapped, or has bound a socket to.
struct HeldFile {
  std::string path;
  bool writes = false;  ///< open for writing, or mapped shared and writable, or a bound socket
};

/// Returns the paths of bound Unix sockets by inode, from /proc/net/unix.
[[nodiscard]] std::map<std::string, std::string> socket_paths(const SystemFiles& files);

/// Returns the files that a process holds. `sockets` is from `socket_paths`. Empty if this user may
/// not inspect the process.
[[nodiscard]] std::vector<HeldFile> held_files(const SystemFiles& files, pid_t pid,
                                               const std::map<std::string, std::string>& sockets);

/// True if a process only cleans up after others: PyTorch's shared-memory manager or one of
/// Python's resource trackers. Such a process ends by itself.
[[nodiscard]] bool cleans_up(const SystemFiles& files, pid_t pid);

}  // namespace steptune::local
