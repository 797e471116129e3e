// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"

namespace steptune::golden {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* k_unread_python = "/usr/bin/python3";

/// A trainer whose lines match no known format.
const char* const k_own_format = R"(import argparse, time
parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=0)
args = parser.parse_args()
for k in range(1, 100000):
    time.sleep(0.02)
    print(f"<{10 * k}> seen so far, cost {3 / k:.3f}", flush=True)
)";

TEST(UnreadOutput, InitProposesAnExpressionThatReadsTheLine) {
  const Sandbox sandbox;
  sandbox.write("train.py", k_own_format);
  const Ended ended = sandbox.steptune({"init", "--", k_unread_python, "-I", "train.py"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("no known format reads this line, which came "));
  std::string study = sandbox.read("train.study.json");
  const auto at = study.find("  // \"reports\": {");
  ASSERT_NE(at, std::string::npos) << study;
  // Removes the comment marks, as a user would.
  for (auto mark = at; study.compare(mark, 5, "  // ") == 0; mark = study.find('\n', mark) + 1)
    study.erase(mark + 2, 3);
  sandbox.write("train.study.json", study);
  const Ended checked = sandbox.steptune({"check", "--json"});
  ASSERT_EQ(checked.exit_code, 0) << checked.err << study;
  const auto json = parse_json(checked.out, "check");
  ASSERT_TRUE(json);
  const Json& metrics = (*json)["study"]["reports"]["metrics"];
  ASSERT_EQ(metrics.size(), 2U) << study;
  EXPECT_EQ(metrics[0], (Json{{"name", "step"}, {"regex", R"(^\s*<(\d+)>\s*seen)"}})) << study;
}

TEST(UnreadOutput, InitUsesAnExpressionWhoseCountIsCertain) {
  const Sandbox sandbox;
  std::string program = k_own_format;
  const std::string line = "<{10 * k}> seen so far, cost";
  program.replace(program.find(line), line.size(), "Train loss {10 * k}");
  sandbox.write("train.py", program);
  const Ended ended = sandbox.steptune({"init", "--", k_unread_python, "-I", "train.py"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("output read by expressions drafted from the output"));
  const Ended checked = sandbox.steptune({"check", "--json"});
  const auto json = parse_json(checked.out, "check");
  ASSERT_TRUE(json) << checked.err;
  const Json& metrics = (*json)["study"]["reports"]["metrics"];
  ASSERT_EQ(metrics.size(), 2U) << checked.out;
  EXPECT_EQ(metrics[0], (Json{{"name", "step"}, {"regex", R"(^\s*Train\s+loss\s+(\d+))"}}));
  EXPECT_EQ(metrics[1]["name"], "loss");
}

TEST(UnreadOutput, CheckOfACommandQuotesTheLineAndItsExpression) {
  const Sandbox sandbox;
  sandbox.write("train.py", k_own_format);
  const Ended ended = sandbox.steptune({"check", "--", k_unread_python, "-I", "train.py"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(difference(R"out(the program cannot be tuned unchanged: {{.*}}
{{...}}
steptune: error: {{.*}}no known format reads this line, which came {{\d+}} times:
    <{{\d+}}> seen so far, cost {{[0-9.]+}}
  this part of a study file reads it:
    "reports": {"metrics": [
      {"name":"step","regex":"^\\s*<(\\d+)>\\s*seen"},
      {"name":"loss","regex":"^\\s*<\\S+>\\s*seen\\s+so\\s+far,\\s*cost\\s+([-+]?(?:[0-9.]+(?:[eE][-+]?[0-9]+)?|(?i:nan|inf(?:inity)?)))"}
    ]}
  its output is in {{.*}}train/init.log
  'steptune init -- /usr/bin/python3 -I train.py' writes a study file that has this part as a comment
)out",
                       ended.err),
            "");
}

/// Writes a study whose preset reads nothing that its program prints.
void write_unread_study(const Sandbox& sandbox) {
  sandbox.write("train.py", k_own_format);
  sandbox.write("study.json", R"({
    "name": "unread", "command": ["/usr/bin/python3", "-I", "train.py", "--workers", "{workers}"],
    "parameters": {"workers": {"type": "int", "low": 0, "high": 2}}, "baseline": {"workers": 0},
    "reports": "key=value"})");
}

TEST(UnreadOutput, AStudyThatReadsNothingIsRefusedInSeconds) {
  const Sandbox sandbox;
  write_unread_study(sandbox);
  const Ended ended = sandbox.steptune({"run", "study.json", "--json"});
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("this part of a study file reads it:\n    \"reports\": {"));
  const auto json = parse_json(ended.out, "run");
  ASSERT_TRUE(json) << ended.err;
  EXPECT_THAT((*json)["reason"].get<std::string>(),
              HasSubstr("nothing that it printed was read as progress: no known format reads "));
  // The study ends long before `limits.idle` would end its trial.
  EXPECT_LT((*json)["study"]["tuning_s"], 45.0);
}

TEST(UnreadOutput, ANightThatReadsNothingSaysSoInItsDocument) {
  const Sandbox sandbox;
  write_unread_study(sandbox);
  const Ended ended = sandbox.steptune({"retune", "study.json", "--json"});
  EXPECT_EQ(ended.exit_code, 9) << ended.out;
  EXPECT_EQ(ended.err, "") << "prints nothing without a terminal";
  const auto json = parse_json(ended.out, "night");
  ASSERT_TRUE(json) << ended.out;
  EXPECT_THAT((*json)["warnings"].dump(), HasSubstr("this part of a study file reads it:"));
}

TEST(UnreadOutput, ASilentProgramGetsAdvice) {
  const Sandbox sandbox;
  sandbox.write("train.py", "import time\ntime.sleep(1000)\n");
  const Ended ended =
      sandbox.steptune({"run", "--time", "8s", "--", k_unread_python, "-I", "train.py"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("the program printed nothing within "));
  EXPECT_THAT(ended.err, HasSubstr("begin the command with stdbuf -oL"));
  EXPECT_THAT(ended.err, HasSubstr("lines \"[steptune] {...}\""));
  EXPECT_THAT(ended.err, HasSubstr("under the hook (docs/hooks.md)"));
  EXPECT_THAT(ended.err, Not(HasSubstr("no known format reads")));
}

/// A C program describes its model by lines on standard error, and its progress stays in the buffer
/// of the C library.
TEST(UnreadOutput, LinesThatCameAllAtOnceAreNotProposedAsProgress) {
  const Sandbox sandbox;
  sandbox.write("train.py", R"(import time
for layer in range(17):
    print(f"   {layer} conv {128 + layer} 3 x 3", flush=True)
time.sleep(1000)
)");
  const Ended ended =
      sandbox.steptune({"run", "--time", "20s", "--", k_unread_python, "-I", "train.py"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err,
              HasSubstr("the program printed no progress, and nothing at all in the last "));
  EXPECT_THAT(ended.err, HasSubstr("begin the command with stdbuf -oL"));
  EXPECT_THAT(ended.err, Not(HasSubstr("this part of a study file reads it")));
}

}  // namespace
}  // namespace steptune::golden
