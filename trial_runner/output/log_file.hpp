// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "common/unique_fd.hpp"

namespace steptune {

/// A trial's output on disk. If the output is larger than a limit, its middle is omitted. The file
/// then has the first and the last bytes, half of the limit each. A line between them shows the
/// size of the omitted part. The second half is a ring buffer in the file, so memory does not grow
/// with the limit. If the tuner is killed, only the first half is in order.
class LogFile {
 public:
  /// A log without a file drops all output.
  LogFile() = default;

  /// Creates or empties the file; only its owner may read it. Returns a `runner` error if it cannot
  /// be opened.
  [[nodiscard]] static Result<LogFile> create(const std::filesystem::path& path,
                                              std::uint64_t cap_bytes);

  /// Appends bytes. After a failed write (disk full) the log stops; see `fault`.
  void write(std::string_view bytes);

  /// Completes the file: puts the second half in order if output was omitted.
  void finish();

  /// Says why the log is incomplete; empty if it is complete.
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  void write_at(std::uint64_t offset, std::string_view bytes);
  void copy_range(int to, std::uint64_t begin, std::uint64_t end);
  void give_up(int error);

  UniqueFd file_;
  std::filesystem::path path_;
  std::uint64_t head_bytes_ = 0;
  std::uint64_t tail_bytes_ = 1;
  std::uint64_t total_ = 0;  // bytes printed by the trial
  std::string fault_;
};

}  // namespace steptune
