// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/judge_reports.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

JudgedCommands two_commands() {
  JudgedCommands judged;
  judged.first.name = "A";
  judged.first.command = "./a | tee";
  judged.margin = 0.02;
  judged.others.resize(2);
  JudgedCommand& slower = judged.others.front();
  slower.name = "B";
  slower.command = "./b";
  slower.verdict = CommandVerdict::slower;
  slower.speed_up = {0.5, 0.45, 0.55, 3, 0.45};
  slower.loss = LaunchMeans{2.0, 2.0, 3, 0.001, 0.002, false};
  JudgedCommand& undecided = judged.others.back();
  undecided.name = "C";
  undecided.command = "./c";
  undecided.why = "100%\nof the time";
  return judged;
}

TEST(JudgeReports, AnnotationsAreForGitHub) {
  const std::string slower =
      "title=steptune judge::B is slower: 0.50 times as fast as A (95 %25 interval 0.45-0.55, 3 "
      "launches each)\n";
  const std::string undecided =
      "title=steptune judge::undecided: C was not compared; 100%25 | of the time\n";
  EXPECT_EQ(github_annotations(two_commands(), {}),
            "::warning " + slower + "::warning " + undecided);
  const FailResult holds{parse_fail_condition("slower:3%").value(), true, {"B"}};
  EXPECT_EQ(github_annotations(two_commands(), {holds}),
            "::error " + slower + "::notice " + undecided);
}

TEST(JudgeReports, ReportsSayThatTheFirstCommandFailed) {
  JudgedCommands judged = two_commands();
  judged.others = {judged.others.back()};
  judged.first.verdict = CommandVerdict::failed;
  const FailResult unknown{parse_fail_condition("slower").value(), std::nullopt, {}};
  EXPECT_EQ(github_annotations(judged, {unknown}),
            "::error title=steptune judge::undecided: C was not compared; 100%25 | of the time\n");
  EXPECT_THAT(markdown_table(judged), ::testing::HasSubstr("| A | failed | | | `./a \\| tee` |\n"));
}

TEST(JudgeReports, TheTableHasARowForEachCommand) {
  EXPECT_EQ(markdown_table(two_commands()),
            "| | verdict | times as fast as A | loss | command |\n"
            "|---|---|---|---|---|\n"
            "| A | | | | `./a \\| tee` |\n"
            "| B | slower | 0.500 (0.450-0.550) | +0.1 % +-0.2 % | `./b` |\n"
            "| C | undecided |  |  | `./c` |\n"
            "\n");
}

TEST(JudgeReports, FiguresAreOpenMetrics) {
  EXPECT_EQ(open_metrics(two_commands()),
            "# TYPE steptune_judge_speed_up gauge\n"
            "# HELP steptune_judge_speed_up Times as fast as the first command\n"
            "steptune_judge_speed_up{command=\"B\"} 0.5\n"
            "# TYPE steptune_judge_speed_up_low gauge\n"
            "# HELP steptune_judge_speed_up_low Lower end of its 95 % interval\n"
            "steptune_judge_speed_up_low{command=\"B\"} 0.45\n"
            "# TYPE steptune_judge_speed_up_high gauge\n"
            "# HELP steptune_judge_speed_up_high Upper end of its 95 % interval\n"
            "steptune_judge_speed_up_high{command=\"B\"} 0.55\n"
            "# TYPE steptune_judge_loss_difference gauge\n"
            "# HELP steptune_judge_loss_difference Loss above the first command's, as a share\n"
            "steptune_judge_loss_difference{command=\"B\"} 0.001\n"
            "# EOF\n");
}

TEST(JudgeReports, NamesAreEscapedForOpenMetrics) {
  JudgedCommands judged = two_commands();
  judged.others.front().name = R"(:/say "a\b")";
  EXPECT_THAT(open_metrics(judged), ::testing::HasSubstr(R"({command=":/say \"a\\b\""} 0.5)"));
}

}  // namespace
}  // namespace steptune
