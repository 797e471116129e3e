// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "common/clock.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// The value of a result, or an exception that fails the test with the error's text.
template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// A folder that goes away with the object.
class HistoryFixtureFiles {
 public:
  HistoryFixtureFiles() {
    // Many durable commits: in memory where the system has such a place.
    const std::filesystem::path memory = "/dev/shm";
    std::error_code error;
    const auto place = std::filesystem::is_directory(memory, error)
                           ? memory
                           : std::filesystem::temp_directory_path();
    std::string pattern = place / "steptune-history-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = pattern;
  }
  HistoryFixtureFiles(const HistoryFixtureFiles&) = delete;
  HistoryFixtureFiles& operator=(const HistoryFixtureFiles&) = delete;
  ~HistoryFixtureFiles() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path path() const { return folder_ / "sub" / "history.db"; }

 private:
  std::filesystem::path folder_;
};

inline TrialRecord launching_trial(std::int64_t number) {
  TrialRecord trial;
  trial.number = number;
  trial.origin = "sobol";
  trial.configuration.set("batch_size", std::int64_t{64} * number);
  trial.configuration.set("precision", std::string("bf16"));
  trial.configuration.set("rate", 0.1);
  trial.configuration.set("compile", true);
  return trial;
}

class HistoryFixture : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path path() const { return files_.path(); }
  [[nodiscard]] const std::filesystem::path& folder() const { return files_.folder(); }
  [[nodiscard]] History open() { return must(History::open_for_writing(path(), clock_)); }
  static StudyRecord make_study(History& history) {
    return must(history.create_or_continue_study("s", "fingerprint", Json{{"name", "s"}}, 42));
  }

  HistoryFixtureFiles files_;
  VirtualClock clock_;
};

}  // namespace steptune
