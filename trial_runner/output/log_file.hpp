// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "common/unique_fd.hpp"

namespace steptune {

/// A trial's output on disk: its first and its last bytes, half of the cap each, with a line
/// between them that says how much was left out. The tail is written round in the file itself, so
/// memory does not grow with the cap and a killed tuner leaves a readable head.
class LogFile {
 public:
  /// No file: what is written is dropped.
  LogFile() = default;

  /// Creates or empties the file, which its owner alone may read. `runner` where it cannot be
  /// opened.
  [[nodiscard]] static Result<LogFile> create(const std::filesystem::path& path,
                                              std::uint64_t cap_bytes);

  /// After a failed write (disk full) the log is given up: see `fault`.
  void write(std::string_view bytes);

  /// Puts head and tail into order if anything was left out.
  void finish();

  /// Why the log is not complete; empty when it is.
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  void write_at(std::uint64_t offset, std::string_view bytes);
  void copy_range(int to, std::uint64_t begin, std::uint64_t end);
  void give_up(int error);

  UniqueFd file_;
  std::filesystem::path path_;
  std::uint64_t head_bytes_ = 0;
  std::uint64_t tail_bytes_ = 1;
  std::uint64_t total_ = 0;  // bytes that the trial printed
  std::string fault_;
};

}  // namespace steptune
