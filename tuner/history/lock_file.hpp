// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "common/error.hpp"
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

  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&& other) noexcept;
  ~LockFile();

 private:
  explicit LockFile(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace steptune
