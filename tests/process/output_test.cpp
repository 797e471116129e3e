// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <gmock/gmock.h>
#include <sys/resource.h>

#include "tests/process/local_runner_fixture.hpp"

namespace steptune::process_tests {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

using OutputTest = LocalRunnerTest;

TEST_F(OutputTest, AFloodInOneLineTakesNoMemory) {
  rusage before{};
  rusage after{};
  ASSERT_EQ(::getrusage(RUSAGE_SELF, &before), 0);
  const TrialSpec spec = fake({"flood", "300000000"});
  const TrialRun done = run(spec);
  ASSERT_EQ(::getrusage(RUSAGE_SELF, &after), 0);
  EXPECT_EQ(done.outcome().kind, OutcomeKind::completed);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 32 * 1024) << "KiB";
  const std::string log = log_of(spec);
  EXPECT_LE(log.size(), spec.limits.log_bytes + 100);
  EXPECT_THAT(log, HasSubstr("--- " + std::to_string(300'000'000 - spec.limits.log_bytes) +
                             " bytes omitted ---"));
}

TEST_F(OutputTest, TheLogKeepsHeadAndTailInOrder) {
  TrialSpec spec = shell("i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done");
  spec.limits.log_bytes = 8192;
  run(spec);
  const std::string log = log_of(spec);
  EXPECT_THAT(log, StartsWith("line 0\nline 1\n"));
  EXPECT_THAT(log, HasSubstr(" bytes omitted ---\n"));
  EXPECT_THAT(log, EndsWith("line 4998\nline 4999\n"));
  constexpr std::string_view k_divider_end = "omitted ---\n";
  const std::size_t tail = log.find(k_divider_end) + k_divider_end.size();
  int last = -1;
  std::istringstream lines(log.substr(log.find('\n', tail) + 1));
  for (std::string line; std::getline(lines, line);) {
    const int number = std::stoi(line.substr(line.find(' ')));
    ASSERT_TRUE(last < 0 || number == last + 1) << last << " then " << number;
    last = number;
  }
}

TEST_F(OutputTest, AShortLogIsWhatTheTrialPrinted) {
  const TrialSpec spec = shell("printf 'a\\0b\\377\\n\\033[31mred\\033[0m no end'");
  run(spec);
  using namespace std::string_literals;
  EXPECT_EQ(log_of(spec), "a\0b\377\n\033[31mred\033[0m no end"s);
}

TEST_F(OutputTest, GarbageDoesNoHarmAndDetailIsPrintable) {
  const TrialRun done = run(shell("printf 'a\\0b\\377c \\033[31mred\\033[0m\\n'; exit 1"));
  EXPECT_EQ(done.outcome().kind, OutcomeKind::failed);
  EXPECT_THAT(done.outcome().detail, EndsWith("c red"));
  EXPECT_EQ(done.outcome().detail.find('\0'), std::string::npos);
  EXPECT_EQ(done.outcome().detail.find('\377'), std::string::npos);
  EXPECT_THAT(done.outcome().detail, HasSubstr("\xEF\xBF\xBD"));
}

TEST_F(OutputTest, CarriageReturnsEndLines) {
  const TrialRun done = run(
      shell("printf '[steptune] {\"v\":1,\"step\":1}\\r[steptune] {\"v\":1,\"step\":2}\\r\\n'"));
  ASSERT_THAT(done.reports, SizeIs(2));
  EXPECT_EQ(done.reports[1].step, 2.0);
}

TEST_F(OutputTest, ALineThatItsSuccessorEndsCameWhenItWasPrinted) {
  const TrialRun done =
      run(shell("printf '\\r[steptune] {\"v\":1,\"step\":1}'; sleep 1; "
                "printf '\\r[steptune] {\"v\":1,\"step\":2}\\n'"));
  ASSERT_THAT(done.reports, SizeIs(2));
  EXPECT_GT(done.reports[1].received_s - done.reports[0].received_s, 0.5);
}

TEST_F(OutputTest, ALastLineWithoutAnEndIsRead) {
  const TrialRun done = run(shell("printf '[steptune] {\"v\":1,\"step\":5}'"));
  ASSERT_THAT(done.reports, SizeIs(1));
  EXPECT_EQ(done.reports[0].step, 5.0);
}

TEST_F(OutputTest, ALineThatArrivesInPiecesIsOne) {
  const TrialRun done =
      run(shell("printf '[steptune] {\"v\":1,'; sleep 0.05; printf '\"step\":5}\\n'"));
  ASSERT_THAT(done.reports, SizeIs(1));
}

TEST_F(OutputTest, ReportsAfterALineThatIsTooLongAreRead) {
  const TrialRun done = run(shell(
      "head -c 1000000 /dev/zero | tr '\\0' x; echo; echo '[steptune] {\"v\":1,\"step\":7}'"));
  ASSERT_THAT(done.reports, SizeIs(1));
  EXPECT_EQ(done.reports[0].step, 7.0);
}

TEST_F(OutputTest, RefusedReportLinesAreReported) {
  const TrialRun done = run(shell("echo '[steptune] {\"v\":1,\"step\":\"many\"}'"));
  EXPECT_EQ(done.outcome().kind, OutcomeKind::completed);
  EXPECT_THAT(done.outcome().detail, HasSubstr("faults in reports: 1; the first: "));
}

TEST_F(OutputTest, AFullDiskCostsTheLogNotTheTrial) {
  TrialSpec spec = shell("echo '[steptune] {\"v\":1,\"step\":1}'");
  spec.log_path = "/dev/full";
  const TrialRun done = run(spec);
  EXPECT_EQ(done.outcome().kind, OutcomeKind::completed);
  EXPECT_THAT(done.reports, SizeIs(1));
  EXPECT_THAT(done.outcome().detail, HasSubstr("No space left on device"));
}

TEST_F(OutputTest, WithoutALogPathNothingIsKept) {
  TrialSpec spec = shell("echo words; exit 1");
  spec.log_path.clear();
  EXPECT_THAT(run(spec).outcome().detail, HasSubstr("words"));
}

TEST_F(OutputTest, AFloodOfReportsComesInPortions) {
  use();
  ASSERT_TRUE(runner().start(shell("exec yes '[steptune] {\"v\":1,\"step\":1}'")));
  std::size_t reports = 0;
  for (int i = 0; i < 20; ++i) {
    const auto events = runner().wait(clock_.now_s() + 1.0);
    ASSERT_TRUE(events);
    EXPECT_LT(events->size(), 100'000U);
    reports += events->size();
  }
  EXPECT_GT(reports, 0U);
  runner().kill_all();
  EXPECT_EQ(wait_for_end().outcome().kind, OutcomeKind::stopped);
}

}  // namespace
}  // namespace steptune::process_tests
