// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/clock.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/init/program_look.hpp"

namespace steptune {
namespace {

/// A run whose output the test writes, under a virtual clock.
class WatchedOutput {
 public:
  /// Prints one line per second.
  void print(const std::string& line) {
    output_ += line + "\n";
    folder_.write("log", output_);
    clock_.advance_to(clock_.now_s() + 1.0);
  }
  bool is_not_understood(HookProgress hook = HookProgress::none) {
    return watch_.is_not_understood(hook);
  }
  /// Returns the number of lines until the watch gives up; 0 if it does not.
  int lines_until_given_up(const std::string& format, HookProgress hook = HookProgress::none) {
    for (int i = 1; i <= 50; ++i) {
      print(fmt::format(fmt::runtime(format), i));
      if (is_not_understood(hook)) return i;
    }
    return 0;
  }
  [[nodiscard]] OutputLook result() { return watch_.result({}); }

 private:
  TemporaryFolder folder_{"watch"};
  VirtualClock clock_;
  std::string output_;
  OutputWatch watch_{folder_.path() / "log", clock_, 3.0};
};

TEST(OutputWatch, GivesUpOnceALineWithALossHasRepeatedForSeconds) {
  WatchedOutput output;
  EXPECT_FALSE(output.is_not_understood()) << "nothing is printed yet";
  EXPECT_EQ(output.lines_until_given_up("bunch {} cost 0.5"), 10)
      << "ten lines, in more than five seconds";
  const OutputLook look = output.result();
  EXPECT_FALSE(look.reading);
  ASSERT_TRUE(look.unread && look.unread->repeated);
  EXPECT_EQ(look.unread->repeated->line, "bunch 10 cost 0.5");
  EXPECT_FALSE(look.unread->is_empty);
}

TEST(OutputWatch, WaitsLongerForALineWithoutALoss) {
  WatchedOutput output;
  const int lines = output.lines_until_given_up("file {} is there");
  // 30 s at a line per second.
  EXPECT_GT(lines, 30);
  EXPECT_LT(lines, 40);
}

TEST(OutputWatch, NeverGivesUpWhatIsUnderstood) {
  WatchedOutput output;
  EXPECT_EQ(output.lines_until_given_up("step={0} loss=0.5\nbunch {0} cost 0.5"), 0);
  EXPECT_TRUE(output.result().reading);
  EXPECT_FALSE(output.result().unread);
}

TEST(OutputWatch, ALineWithoutACounterOrALossIsNoTraining) {
  WatchedOutput output;
  EXPECT_EQ(output.lines_until_given_up("0.{} seconds have passed"), 0);
}

TEST(OutputWatch, AHookThatMayReportIsGivenMoreTime) {
  WatchedOutput imported;
  const int lines = imported.lines_until_given_up("bunch {} cost 0.5", HookProgress::imported);
  EXPECT_GT(lines, 30);
  EXPECT_LT(lines, 40);
  WatchedOutput preparing;
  EXPECT_EQ(preparing.lines_until_given_up("file {} is there", HookProgress::imported), 0);
  WatchedOutput reporting;
  EXPECT_EQ(reporting.lines_until_given_up("bunch {} cost 0.5", HookProgress::reports_steps), 0);
}

TEST(OutputWatch, SaysThatNothingWasPrinted) {
  WatchedOutput output;
  const OutputLook look = output.result();
  ASSERT_TRUE(look.unread);
  EXPECT_TRUE(look.unread->is_empty);
  EXPECT_THAT(look.ending, testing::HasSubstr("the program printed nothing"));
}

}  // namespace
}  // namespace steptune
