// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <utility>

#include "common/error.hpp"
#include "common/unique_fd.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// Exclusive lock of a database or a folder: a `flock` on a file beside it. The file names the
/// owner. The kernel drops the lock when the process ends for any reason, so an old file never
/// blocks anyone. The file itself stays: if it were removed, two processes could lock two files of
/// the same name. Programs that this process starts do not inherit the lock.
class LockFile {
 public:
  /// Acquires the lock. Fails with `conflict` if another process has it; the error names the
  /// owner's host and pid and what to do.
  [[nodiscard]] static Result<LockFile> acquire(const std::filesystem::path& path);
  /// Waits while another process has the lock, then acquires it.
  [[nodiscard]] static Result<LockFile> wait_for(const std::filesystem::path& path);
  /// True if a process has the lock now. Does not hinder another process from acquiring it. False
  /// if the lock file cannot be opened.
  [[nodiscard]] static bool is_held(const std::filesystem::path& path);

 private:
  /// `lock` locks the descriptor and returns 0, or the error number.
  [[nodiscard]] static Result<LockFile> locked(const std::filesystem::path& path,
                                               int (*lock)(int descriptor));
  explicit LockFile(UniqueFd descriptor) : descriptor_(std::move(descriptor)) {}
  UniqueFd descriptor_;
};

}  // namespace steptune
