// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "common/error.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// Detects changes of studies in a database. A check takes microseconds unless the database was
/// written to. Any thread may call it.
class StudyWatch {
 public:
  explicit StudyWatch(std::filesystem::path database) : database_(std::move(database)) {}

  /// Returns a text that changes if the study changes. It depends on the study's status, tuning
  /// time, cost of unused machines, recommendation, and number of trials in each status. Without an
  /// id, returns a text for all studies together. Returns `not_found` if the study or the database
  /// does not exist.
  [[nodiscard]] Result<std::string> version(std::optional<std::int64_t> study_id);

 private:
  [[nodiscard]] Result<void> poll();
  [[nodiscard]] Result<void> open_what_is_there();
  [[nodiscard]] Result<void> read_versions();

  const std::filesystem::path database_;
  std::mutex mutex_;  ///< guards the members below
  std::optional<History> history_;
  std::pair<std::uint64_t, std::uint64_t> file_;  ///< device and inode of the open file
  std::int64_t counter_ = -1;
  bool has_writer_ = false;
  std::string of_all_;
  std::map<std::int64_t, std::string> of_study_;
};

}  // namespace steptune
