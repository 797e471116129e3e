// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <utility>

#include "common/error.hpp"
#include "common/unique_fd.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// Single ownership of a database: an exclusive `flock` on a file beside it that also tells who
/// holds it. The kernel drops the lock with the process, however that ends, so a stale file never
/// blocks anyone; the file itself stays, because removing it would let two processes lock two files
/// of the same name. Not inherited by programs that this process starts.
class LockFile {
 public:
  /// `conflict` with the owner's host and pid and what to do, if another process holds it.
  [[nodiscard]] static Result<LockFile> acquire(const std::filesystem::path& path);
  /// Whether a process holds it now. Looking hinders nobody from acquiring it. False where that
  /// cannot be told.
  [[nodiscard]] static bool is_held(const std::filesystem::path& path);

 private:
  explicit LockFile(UniqueFd descriptor) : descriptor_(std::move(descriptor)) {}
  UniqueFd descriptor_;
};

}  // namespace steptune
