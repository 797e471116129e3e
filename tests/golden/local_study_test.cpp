// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

/// A whole study of real processes, tuned once for all tests.
class LocalStudy : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    sandbox_ = std::make_unique<Sandbox>();
    sandbox_->write("quick.json", quick_study());
    sandbox_->write("quick.sh", quick_trial());
    ended_ = sandbox_->steptune({"run", "quick.json"});
  }
  static void TearDownTestSuite() { sandbox_.reset(); }

  static std::unique_ptr<Sandbox> sandbox_;
  static Ended ended_;
};
std::unique_ptr<Sandbox> LocalStudy::sandbox_;
Ended LocalStudy::ended_;

TEST_F(LocalStudy, EndsWithTheFasterConfiguration) {
  EXPECT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_NE(ended_.out.find("times as fast ("), std::string::npos) << ended_.out;
  EXPECT_NE(ended_.out.find("\nchange  speed  slow -> fast\n"), std::string::npos) << ended_.out;
  EXPECT_NE(ended_.out.find("per million samples\n"), std::string::npos) << ended_.out;
}

TEST_F(LocalStudy, BestArgumentsAndEnvironmentRunTheTrainingProgramAgain) {
  const std::string measured = sandbox_->read("arguments.txt");
  sandbox_->write("arguments.txt", "");
  const Ended again = sandbox_->program({"sh", "-c",
                                         "set -a; eval \"$(\"$0\" best --format env)\"; set +a; "
                                         "eval \"$(\"$0\" best --format args) > again.txt\"",
                                         steptune_program()});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  const std::string threads = measured.substr(measured.rfind(' ') + 1);
  EXPECT_EQ(sandbox_->read("arguments.txt"), "fast it's " + threads);
  EXPECT_NE(threads, "\n") << "the runner sets the number of threads";
}

TEST_F(LocalStudy, LogsAreEscapedOnTerminalsOnly) {
  const Ended piped = sandbox_->steptune({"show", "1", "--log"});
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_TRUE(piped.out.starts_with("colour \x1b[31m and \xff\n")) << piped.out.substr(0, 100);
  const Ended shown = sandbox_->on_terminal("$STEPTUNE show 1 --log");
  EXPECT_EQ(shown.out.find('\x1b'), std::string::npos);
  EXPECT_NE(shown.out.find("[steptune]"), std::string::npos);
}

TEST_F(LocalStudy, LogsAreFoundAlthoughTheHistoryWasMoved) {
  const std::string log = sandbox_->steptune({"show", "1", "--log"}).out;
  const auto folder = sandbox_->folder();
  std::filesystem::rename(folder / ".steptune", folder / "moved");
  const Ended moved = sandbox_->steptune({"--db", "moved/history.db", "show", "1", "--log"});
  std::filesystem::rename(folder / "moved", folder / ".steptune");
  EXPECT_EQ(moved.exit_code, 0) << moved.err;
  EXPECT_EQ(moved.out, log);
}

TEST_F(LocalStudy, PlacementAndBillAreRecorded) {
  const auto json = parse_json(sandbox_->steptune({"show", "1", "--json"}).out, "show");
  ASSERT_TRUE(json) << json.error().text();
  const Json& trial = (*json)["trial"];
  EXPECT_TRUE(trial["placement"].contains("OMP_NUM_THREADS")) << trial["placement"];
  // 3.60 dollars per hour are 0.001 dollars per second.
  EXPECT_NEAR(trial["spent_usd"].get<double>(), trial["spent_s"].get<double>() * 0.001, 1e-9);
}

}  // namespace
}  // namespace steptune::golden
