// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "common/clock.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

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
  [[nodiscard]] std::filesystem::path path() const { return folder() / "sub" / "history.db"; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  [[nodiscard]] History open() { return must(History::open_for_writing(path(), clock_)); }
  static StudyRecord make_study(History& history) {
    return must(history.create_or_continue_study("s", "fingerprint", Json{{"name", "s"}}, 42));
  }

  DatabaseFolder folder_;
  VirtualClock clock_;
};

}  // namespace steptune
