// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trial_runner/reports/report_reader.hpp"

namespace steptune {
namespace {

/// Returns the lines of a probe's output. `environment` has the syntax of env(1).
std::vector<std::string> lines_of(const std::string& environment, const std::string& program,
                                  const std::string& mode) {
  const std::string command =
      fmt::format("env -u RANK -u STEPTUNE_TRIAL -u STEPTUNE_ALL_RANKS {} {} {} 2>/dev/null",
                  environment, program, mode);
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), count);
  }
  EXPECT_EQ(pclose(pipe), 0) << command;
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < output.size();) {
    const std::size_t end = output.find('\n', begin);
    EXPECT_NE(end, std::string::npos) << "the last line is not ended";
    lines.push_back(output.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::vector<Report> reports_of(const std::vector<std::string>& lines) {
  auto reader = ReportReader::create({});
  std::vector<Report> reports;
  for (const std::string& line : lines) {
    auto report = reader->read_line(line, 0.0);
    EXPECT_TRUE(report) << line;
    if (report) reports.push_back(*std::move(report));
  }
  EXPECT_EQ(reader->rejected_lines(), 0U);
  return reports;
}

/// Both reporters must behave in the same way.
class Reporters : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] std::vector<std::string> lines(const std::string& environment,
                                               const std::string& mode) const {
    return lines_of(environment, GetParam(), mode);
  }
};

const std::string k_python = "PYTHONPATH='" STEPTUNE_SOURCE_DIR
                             "/trial_runner/reporters' PYTHONDONTWRITEBYTECODE=1 " STEPTUNE_PYTHON
                             " '" STEPTUNE_SOURCE_DIR "/tests/unit/trial_runner/report_probe.py'";

INSTANTIATE_TEST_SUITE_P(Both, Reporters,
                         testing::Values("'" STEPTUNE_BINARY_DIR "/bin/report_probe'", k_python),
                         [](const auto& tested) { return tested.index == 0 ? "Cpp" : "Python"; });

TEST_P(Reporters, AreSilentOutsideATuner) {
  EXPECT_TRUE(lines("A=b", "fast").empty());
}

TEST_P(Reporters, AreSilentOnRanksOtherThanZero) {
  EXPECT_TRUE(lines("STEPTUNE_TRIAL=1 RANK=1", "fast").empty());
  EXPECT_FALSE(lines("STEPTUNE_TRIAL=1 RANK=0", "fast").empty());
}

TEST_P(Reporters, PrintTheirRankIfEachIsMeasured) {
  for (const char* variable : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    const auto reports = reports_of(
        lines(fmt::format("STEPTUNE_TRIAL=1 STEPTUNE_ALL_RANKS=1 {}=3", variable), "fast"));
    ASSERT_FALSE(reports.empty());
    for (const Report& report : reports)
      EXPECT_EQ(report.global_rank, 3);
  }
  for (const char* environment :
       {"STEPTUNE_TRIAL=1 RANK=0", "STEPTUNE_TRIAL=1 STEPTUNE_ALL_RANKS=1"}) {
    const auto reports = reports_of(lines(environment, "fast"));
    ASSERT_FALSE(reports.empty());
    EXPECT_FALSE(reports.front().global_rank) << environment;
  }
}

TEST_P(Reporters, PrintTheFirstLastAndFewOtherSteps) {
  const auto reports = reports_of(lines("STEPTUNE_TRIAL=1", "fast"));
  ASSERT_GE(reports.size(), 2U);
  EXPECT_EQ(reports.front().step, 1.0);
  EXPECT_EQ(reports.back().step, 20000.0);
  EXPECT_EQ(reports.back().samples, 160000.0);
  EXPECT_EQ(reports.back().metrics.at("loss"), 1.0 / 20000);
  EXPECT_EQ(reports.back().parts.at("data"), 10000.0);
  ASSERT_TRUE(reports.back().clock_s);
  EXPECT_LE(static_cast<double>(reports.size()), 3.0 + *reports.back().clock_s / 0.25);
}

TEST_P(Reporters, CountFromManyThreads) {
  const auto reports = reports_of(lines("STEPTUNE_TRIAL=1", "threads"));
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back().step, 20000.0);
  EXPECT_EQ(reports.back().samples, 40000.0);
}

TEST_P(Reporters, PrintLinesThatTheReaderAccepts) {
  const auto reports = reports_of(lines("STEPTUNE_TRIAL=1", "odd"));
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].step, 1.0);
  EXPECT_FALSE(reports[0].samples);
  EXPECT_EQ(reports[0].not_finite, std::set<std::string>{"loss"});
  EXPECT_EQ(reports[0].metrics, (std::map<std::string, double>{{"a\"b", 0.1}}));
  EXPECT_TRUE(reports[0].parts.empty());
}

/// A guard takes each printed value for a new one.
TEST_P(Reporters, PrintAValueOnce) {
  const auto reports = reports_of(lines("STEPTUNE_TRIAL=1", "repeated"));
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_TRUE(reports[0].repeated.empty());
  EXPECT_EQ(reports[1].repeated, (std::set<std::string>{"accuracy", "diverged"}));
  EXPECT_EQ(reports[1].metrics.at("accuracy"), 0.25) << "the reader keeps the latest value";
}

TEST_P(Reporters, LeaveOutNamesThatTheReaderWouldRefuse) {
  const auto reports = reports_of(lines("STEPTUNE_TRIAL=1", "names"));
  ASSERT_GE(reports.size(), 2U);
  const Report& last = reports.back();
  EXPECT_EQ(last.step, 1003.0);
  EXPECT_EQ(last.metrics.size(), 64U);
  EXPECT_EQ(last.parts.size(), 64U);
  EXPECT_TRUE(last.metrics.contains(std::string(100, 'n')));
  EXPECT_TRUE(last.metrics.contains("m62"));
}

TEST_P(Reporters, PrintEarlierStepsBeforeAPhase) {
  EXPECT_TRUE(lines("A=b", "phases").empty());
  double steps = 0.0;
  std::vector<std::string> printed;
  for (const Report& report : reports_of(lines("STEPTUNE_TRIAL=1", "phases"))) {
    if (report.step) steps = *report.step;
    if (!report.phase) continue;
    EXPECT_FALSE(report.step) << "a phase is reported on a separate line";
    ASSERT_TRUE(report.clock_s);
    printed.push_back(fmt::format("{} {} {}", steps, report.phase->name,
                                  report.phase->seconds ? "ended" : "begins"));
    if (!report.phase->seconds) continue;
    EXPECT_GE(*report.phase->seconds, 0.015);
    EXPECT_LT(*report.phase->seconds, 5.0);
  }
  std::vector<std::string> expected;
  for (const int step : {20, 40, 60, 80, 100}) {
    // A checkpoint within an evaluation is part of it.
    expected.push_back(fmt::format("{} evaluation begins", step));
    expected.push_back(fmt::format("{} evaluation ended", step));
  }
  EXPECT_EQ(printed, expected);
  EXPECT_EQ(steps, 101.0);
}

TEST_P(Reporters, ReportPhasesOfManyThreads) {
  int begun = 0;
  int ended = 0;
  double steps = 0.0;
  for (const Report& report : reports_of(lines("STEPTUNE_TRIAL=1", "phase_threads"))) {
    if (report.step) steps = *report.step;
    if (report.phase) ++(report.phase->seconds ? ended : begun);
    EXPECT_LE(ended, begun);
    EXPECT_LE(begun, ended + 1) << "overlapping phases are reported once";
  }
  EXPECT_EQ(begun, ended);
  EXPECT_GE(begun, 1);
  EXPECT_EQ(steps, 200.0);
}

TEST_P(Reporters, AForkedChildRepeatsNothing) {
  const auto reports = reports_of(lines("STEPTUNE_TRIAL=1", "fork"));
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[1].step, 2.0);
}

TEST_P(Reporters, ReportStepsOfAForkedTrainer) {
  const auto reports = reports_of(lines("STEPTUNE_TRIAL=1", "forked"));
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].step, 1.0);
  EXPECT_EQ(reports[1].step, 3.0);
}

TEST(PythonReporter, EndsAPhaseThatRaises) {
  const auto reports = reports_of(lines_of("STEPTUNE_TRIAL=1", k_python, "raises"));
  ASSERT_EQ(reports.size(), 4U);
  EXPECT_EQ(reports[1].phase, (PhaseReport{"evaluation", std::nullopt}));
  ASSERT_TRUE(reports[2].phase);
  EXPECT_TRUE(reports[2].phase->seconds);
  EXPECT_EQ(reports[3].step, 2.0);
}

TEST(PythonReporter, ReadsTensorsOnlyWhenALineIsPrinted) {
  const auto reports = reports_of(lines_of("STEPTUNE_TRIAL=1", k_python, "tensor"));
  ASSERT_GE(reports.size(), 2U);
  EXPECT_EQ(reports.back().metrics.at("loss"), 0.25);
  EXPECT_FALSE(reports.back().metrics.contains("text"));
  // At most one read for each line before the reporting one.
  EXPECT_LT(reports.back().metrics.at("reads"), static_cast<double>(reports.size()) + 0.5);
}

TEST(PythonReporter, ReportsATensorAsItWasAtTheCall) {
  const auto reports = reports_of(lines_of("STEPTUNE_TRIAL=1", k_python, "changed"));
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[1].metrics.at("loss"), 0.5);
  EXPECT_EQ(reports[1].metrics.at("accuracy"), 0.5);
}

TEST(PythonReporter, WritesIntoWhateverAProgramPutsInPlaceOfStdout) {
  const auto reports = reports_of(lines_of("STEPTUNE_TRIAL=1", k_python, "own_stdout"));
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[1].step, 2.0);
  EXPECT_EQ(reports[1].metrics.at("loss"), 0.25);
}

TEST(PythonReporter, WithoutStdoutTrainingContinues) {
  EXPECT_EQ(lines_of("STEPTUNE_TRIAL=1", k_python, "no_stdout"),
            std::vector<std::string>{"trained to the end"});
}

TEST(PythonReporter, WithoutStderrAValueThatIsNoNumberIsLeftOut) {
  const auto reports = reports_of(lines_of("STEPTUNE_TRIAL=1", k_python, "no_stderr"));
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_FALSE(reports[0].metrics.contains("loss"));
  EXPECT_EQ(reports[0].metrics.at("accuracy"), 0.5);
}

TEST(PythonReporter, AddsUpPartsAndTakesWhateverIsANumber) {
  const auto reports = reports_of(lines_of("STEPTUNE_TRIAL=1", k_python, "parts"));
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].step, 2.0) << "two steps at once";
  EXPECT_EQ(reports[0].samples, 4.0);
  EXPECT_EQ(reports[0].metrics.at("loss"), 0.5);
  EXPECT_GE(reports[0].parts.at("data"), 0.502);
  EXPECT_LT(reports[0].parts.at("data"), 2.0);
  EXPECT_EQ(reports[0].parts.at("compute"), 1.0) << "a text is not a number";
}

}  // namespace
}  // namespace steptune
