// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "common/unique_fd.hpp"

namespace steptune {

/// File with a trial's output, limited in size. If the output is larger than the limit, the file
/// keeps the first and the last bytes, half of the limit each. A line between the halves shows the
/// size of the omitted part. The second half is a ring buffer in the file, so memory does not grow
/// with the limit. `finish` sorts the ring: if the tuner is killed before, the second half is out
/// of order.
class LogFile {
 public:
  /// A log without a file drops all output.
  LogFile() = default;

  /// Creates or empties the file. Only its owner may read a new file. `cap_bytes` is not 0.
  /// Without a path, returns a log without a file. Returns a `runner` error if the file cannot be
  /// opened.
  [[nodiscard]] static Result<LogFile> create(const std::filesystem::path& path,
                                              std::uint64_t cap_bytes);

  /// Appends bytes. After a failed write (disk full), drops all further bytes and sets `fault`.
  void write(std::string_view bytes);

  /// Puts the second half in order if output was omitted. Call it last.
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
