// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/unread_trial.hpp"

#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A first trial that prints one line per second, under a virtual clock.
class PrintingTrial {
 public:
  explicit PrintingTrial(const StudySpec& study)
      : watched_(study, clock_, [this](const std::string& text) { said.push_back(text); }) {}

  /// Returns the seconds until the trial is refused; 0 if it continues.
  int refused_after_s(const std::string& format) {
    for (int i = 1; i <= k_watched_s; ++i) {
      output_ += fmt::format(fmt::runtime(format), i) + "\n";
      folder_.write("trial-1.log", output_);
      clock_.advance_to(clock_.now_s() + 1.0);
      if (const auto refusal =
              watched_.why_unread(folder_.path() / "trial-1.log", clock_.now_s())) {
        why = *refusal;
        return i;
      }
    }
    return 0;
  }

  std::vector<std::string> said;
  std::string why;

 private:
  static constexpr int k_watched_s = 70;
  TemporaryFolder folder_{"unread"};
  VirtualClock clock_;
  std::string output_;
  UnreadTrial watched_;
};

TEST(UnreadTrial, IsRefusedInSecondsWithTheLineAndAnExpression) {
  PrintingTrial trial{StudySpec()};
  EXPECT_EQ(trial.refused_after_s("bunch {} cost 0.5"), 10);
  EXPECT_EQ(trial.why,
            "nothing that it printed was read as progress: no known format reads this line, "
            "which came 10 times: bunch 10 cost 0.5");
  EXPECT_THAT(trial.said, ElementsAre(HasSubstr("\"reports\": {\"metrics\": [")));
}

TEST(UnreadTrial, ExpressionsMayMatchLater) {
  StudySpec study;
  study.report_format.metrics = {{"samples", "epoch ([0-9]+) is over"}};
  PrintingTrial trial(study);
  EXPECT_EQ(trial.refused_after_s("bunch {} cost 0.5"), 0);
  EXPECT_THAT(trial.said,
              ElementsAre(HasSubstr(
                  "within 10.0 s was read as progress: no known format reads this line")));
}

TEST(UnreadTrial, SuggestsAKnownFormatThatReadsTheOutput) {
  StudySpec study;
  study.report_format.preset = "tqdm";
  PrintingTrial trial(study);
  EXPECT_EQ(trial.refused_after_s("step={} loss=0.5"), 0);
  EXPECT_THAT(trial.said, ElementsAre(HasSubstr("write \"reports\": \"key=value\" into")));
}

TEST(UnreadTrial, AHookedProgramIsLeftToTheHook) {
  StudySpec study;
  study.hooks.python.emplace();
  PrintingTrial trial(study);
  EXPECT_EQ(trial.refused_after_s("bunch {} cost 0.5"), 0);
  EXPECT_THAT(trial.said, IsEmpty());
}

}  // namespace
}  // namespace steptune
