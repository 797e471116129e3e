// SPDX-License-Identifier: Apache-2.0
#include "tuner/serve/study_watch.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "common/clock.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune {
namespace {

class Watched : public testing::Test {
 protected:
  [[nodiscard]] History open() const { return must(History::open_for_writing(file_, clock_)); }
  [[nodiscard]] static StudyRecord add_study(History& history, const std::string& name) {
    return must(history.create_or_continue_study(name, "f-" + name, Json::object(), 1));
  }
  static void launch(History& history, std::int64_t study, std::int64_t number) {
    TrialRecord trial;
    trial.number = number;
    ASSERT_TRUE(history.record_launching(study, trial));
  }

  TemporaryFolder folder_{"watch"};
  std::filesystem::path file_ = folder_.path() / "history.db";
  SystemClock clock_;
};

TEST_F(Watched, ChangesWithTheStudyAndNotWithAnother) {
  History history = open();
  const auto first = add_study(history, "first");
  const auto second = add_study(history, "second");
  StudyWatch watch(file_);
  const std::string of_first = must(watch.version(first.id));
  const std::string of_second = must(watch.version(second.id));
  const std::string of_all = must(watch.version(std::nullopt));
  EXPECT_EQ(must(watch.version(first.id)), of_first);

  launch(history, second.id, 1);
  EXPECT_EQ(must(watch.version(first.id)), of_first);
  const std::string launched = must(watch.version(second.id));
  EXPECT_NE(launched, of_second);
  EXPECT_NE(must(watch.version(std::nullopt)), of_all);

  ASSERT_TRUE(history.record_running(second.id, 1, "token", {}));
  const std::string running = must(watch.version(second.id));
  EXPECT_NE(running, launched);

  TrialRecord ended;
  ended.number = 1;
  ended.status = TrialStatus::completed;
  ended.objectives = {1.0};
  StudyRecord totals = second;
  totals.elapsed_s = 5.0;
  ASSERT_TRUE(history.record_ended(second.id, ended, &totals));
  const std::string completed = must(watch.version(second.id));
  EXPECT_NE(completed, running);

  StudyRecord finished = second;
  finished.status = StudyStatus::finished;
  ASSERT_TRUE(history.record_study(finished));
  EXPECT_NE(must(watch.version(second.id)), completed);
}

TEST_F(Watched, NoticesMissingAndReplacedFiles) {
  {
    History history = open();
    static_cast<void>(add_study(history, "first"));
  }
  StudyWatch watch(file_);
  const std::string version = must(watch.version(1));
  EXPECT_EQ(watch.version(2).error().kind, ErrorKind::not_found);

  std::filesystem::rename(file_, folder_.path() / "away.db");
  EXPECT_EQ(watch.version(1).error().kind, ErrorKind::not_found);
  {
    History history = open();
    static_cast<void>(add_study(history, "another"));
  }
  EXPECT_NE(must(watch.version(1)), version);
  std::filesystem::rename(folder_.path() / "away.db", file_);
  EXPECT_EQ(must(watch.version(1)), version);
}

}  // namespace
}  // namespace steptune
