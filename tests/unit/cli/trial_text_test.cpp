// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/trial_text.hpp"

#include <cmath>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/trial_fixtures.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t k_pipe = 0;
constexpr std::size_t k_terminal = 80;

TrialRecord disturbed_trial() {
  TrialRecord trial = make_trial(7, 2000.0, 10.0, 64);
  trial.attempt = 2;
  trial.disturbance = Disturbance{.other_load = 0.3, .steal = 0.01};
  trial.disturbed_s = 13.5;
  return trial;
}

TrialDetails disturbed_details() {
  TrialDetails details;
  details.trace.emplace();
  details.trace->disturbed = {
      {12.0,
       20.5,
       {.other_load = 0.4,
        .steal = 0.0,
        .other_gpu_processes = 2,
        .memory_pressure = 0.25,
        .storage_pressure = 0.03,
        .quota_wait = 0.5,
        .clocks_throttled = true}},
      {60.0, 65.0, {.other_load = 0.2, .steal = 0.08, .other_gpu_processes = 1}}};
  AttemptRecord lost;
  lost.attempt = 1;
  lost.status = TrialStatus::interrupted;
  lost.spent_s = 62.0;
  lost.spent_usd = 0.12;
  lost.failure = "the machine was taken back\x1b[31m by its provider";
  AttemptRecord whole;
  whole.attempt = 2;
  whole.status = TrialStatus::completed;
  whole.spent_s = 40.0;
  details.attempts = {lost, whole};
  details.log_tail = {"step 9 loss 0.25", "step 10 " + std::string(100, '=')};
  return details;
}

std::string text_of(const TrialRecord& trial, const TrialDetails& details, std::size_t width) {
  return trial_text(trial, nullptr, {planned_time()}, {"batch_size", "precision"}, details, width);
}

/// Returns the lines of one fact: the line with its name, and the unnamed lines below it.
std::string fact(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  std::string found;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(' ')) inside = line.starts_with(name + " ");
    if (inside) found += line + "\n";
  }
  return found;
}

TEST(TrialText, ShowsTheErrorOfAGuardedMetric) {
  TrialRecord trial = make_trial(7, 2000.0, 10.0, 64);
  trial.measurement->metrics = {{"loss", 2.5}, {"loss@20000", 2.75}};
  trial.measurement->metric_errors = {{"loss@20000", 0.01}};
  const std::string metrics = fact(text_of(trial, {}, k_pipe), "metrics");
  EXPECT_THAT(metrics, HasSubstr("loss@20000=2.75+-0.02")) << metrics;
  EXPECT_THAT(metrics, Not(HasSubstr("error")));
}

TEST(TrialText, ShowsDisturbancesAndTheirTimes) {
  const std::string text = text_of(disturbed_trial(), disturbed_details(), k_pipe);
  EXPECT_EQ(
      fact(text, "disturbance"),
      "disturbance    other load 30 %, steal 1.0 %, above a threshold for 13.5 s: unreliable\n");
  EXPECT_EQ(fact(text, "disturbed"),
            "disturbed      12.0 s to 20.5 s: other load 40 %, steal 0.0 %, memory pressure 25 %, "
            "storage pressure 3.0 %, out of CPU quota 50 %, CPU clocks throttled, 2 other "
            "processes on its GPUs\n"
            "               1 min to 1 min 5 s: other load 20 %, steal 8.0 %, 1 other process on "
            "its GPUs\n");
}

TEST(TrialText, ALittleLoadIsNoReasonToDoubtATrial) {
  TrialRecord trial = disturbed_trial();
  trial.disturbance = Disturbance{.other_load = 0.02};
  trial.disturbed_s = 0.0;
  const std::string text = text_of(trial, {}, k_pipe);
  EXPECT_EQ(fact(text, "disturbance"), "disturbance    other load 2.0 %, steal 0.0 %\n");
  EXPECT_EQ(fact(text, "disturbed"), "");
}

TEST(TrialText, ShowsADashForAnUnknownLoad) {
  TrialRecord trial = disturbed_trial();
  trial.disturbance = Disturbance{.other_load = std::nan(""), .steal = 0.5};
  EXPECT_THAT(text_of(trial, {}, k_pipe), HasSubstr("other load -, steal 50 %"));
}

TEST(TrialText, ATerminalWrapsDisturbances) {
  const std::string text = text_of(disturbed_trial(), disturbed_details(), k_terminal);
  EXPECT_EQ(fact(text, "disturbance"),
            "disturbance    other load 30 %, steal 1.0 %, above a threshold for 13.5 s:\n"
            "               unreliable\n");
  EXPECT_EQ(fact(text, "disturbed"),
            "disturbed      12.0 s to 20.5 s: other load 40 %, steal 0.0 %, memory pressure\n"
            "               25 %, storage pressure 3.0 %, out of CPU quota 50 %, CPU clocks\n"
            "               throttled, 2 other processes on its GPUs\n"
            "               1 min to 1 min 5 s: other load 20 %, steal 8.0 %, 1 other process\n"
            "               on its GPUs\n");
}

TEST(TrialText, NamesTheFirstDisturbedTimesAndCountsTheOthers) {
  TrialDetails details;
  details.trace.emplace();
  for (int i = 0; i < 10; ++i)
    details.trace->disturbed.push_back({10.0 * i, 10.0 * i + 5.0, {.other_load = 0.4}});
  const std::string disturbed = fact(text_of(disturbed_trial(), details, k_pipe), "disturbed");
  EXPECT_THAT(disturbed, HasSubstr("\n               1 min 10 s to 1 min 15 s: "));
  EXPECT_THAT(disturbed, Not(HasSubstr("1 min 20 s to")));
  EXPECT_TRUE(disturbed.ends_with("\n               and 2 more times\n")) << disturbed;
}

TEST(TrialText, ShowsClocksAndTheirEffect) {
  TrialRecord trial = make_trial(7, 2000.0, 10.0, 64);
  trial.measurement->level_changes.push_back({.at_samples = 100.0, .at_s = 40.0, .ratio = 1.5});
  EXPECT_EQ(fact(text_of(trial, {}, k_pipe), "CPU clock"), "");
  EXPECT_EQ(fact(text_of(trial, {}, k_pipe), "level change"),
            "level change   1.5 times the seconds per sample from 40.0 s on\n");
  trial.cpu_clock = {3.404e9, 2.1e9};
  LevelChange& change = trial.measurement->level_changes.front();
  change.machine = MachineFigureChange{"cpu_clock_hz", 3.4e9, 2.1e9};
  EXPECT_EQ(fact(text_of(trial, {}, k_pipe), "CPU clock"),
            "CPU clock      3.40 GHz while busy, in the slowest second 2.10 GHz\n");
  EXPECT_EQ(fact(text_of(trial, {}, k_pipe), "level change"),
            "level change   1.5 times the seconds per sample from 40.0 s on: the CPUs' clock fell "
            "from 3.40 GHz to 2.10 GHz at that time\n");
  change.machine = MachineFigureChange{"storage_pressure", 0.02, 0.4};
  EXPECT_EQ(fact(text_of(trial, {}, k_pipe), "level change"),
            "level change   1.5 times the seconds per sample from 40.0 s on: waiting for storage "
            "rose from 2.0 % to 40 % of the time at that time\n");
}

TEST(TrialText, ShowsWaitsInTheMeasuredWindow) {
  TrialRecord trial = make_trial(7, 2000.0, 10.0, 64);
  trial.measurement->window_s = 30.0;
  TrialDetails details;
  TrialTrace& trace = details.trace.emplace();
  const double begin_s = trial.measurement->window_begin_s();
  trace.machine = {{.from_s = 0.0, .to_s = begin_s, .storage_pressure = 0.9},
                   {.from_s = begin_s,
                    .to_s = trial.measurement->window_end_s(),
                    .memory_pressure = 0.005,
                    .storage_pressure = 0.31}};
  EXPECT_EQ(fact(text_of(trial, details, k_pipe), "waits"),
            "waits          some program waited for storage 31 % of the time\n");
  trace.machine[1].storage_pressure = 0.0;
  EXPECT_EQ(fact(text_of(trial, details, k_pipe), "waits"), "");
}

TEST(TrialText, BillsEachAttempt) {
  EXPECT_EQ(fact(text_of(disturbed_trial(), disturbed_details(), k_pipe), "attempts"),
            "attempts       1: interrupted, 1 min 2 s, $0.12: the machine was taken back by its "
            "provider\n"
            "               2: completed, 40.0 s\n");
  EXPECT_EQ(fact(text_of(disturbed_trial(), disturbed_details(), k_terminal), "attempts"),
            "attempts       1: interrupted, 1 min 2 s, $0.12: the machine was taken back by\n"
            "               its provider\n"
            "               2: completed, 40.0 s\n");
  EXPECT_EQ(fact(text_of(disturbed_trial(), {}, k_pipe), "attempts"), "attempts       2\n")
      << "the history has no bills of the attempts";
}

TEST(TrialText, ShowsUseOfMachinesWithoutPrices) {
  TrialRecord trial = disturbed_trial();
  trial.spent_s = 62.0;
  TrialDetails details;
  EXPECT_EQ(fact(text_of(trial, details, k_pipe), "spent"), "spent          1 min 2 s\n");
  details.machine_hours = 0.125;
  EXPECT_EQ(fact(text_of(trial, details, k_pipe), "spent"),
            "spent          1 min 2 s, 0.125 machine-hours\n");
}

TEST(TrialText, TheLogIsShownUnchanged) {
  const std::string expected =
      "log ends with  step 9 loss 0.25\n               step 10 " + std::string(100, '=') + "\n";
  for (const std::size_t width : {k_pipe, k_terminal}) {
    const std::string text = text_of(disturbed_trial(), disturbed_details(), width);
    EXPECT_TRUE(text.ends_with(expected)) << text;
  }
}

TEST(TrialText, OnlyTheLogIsWiderThanATerminal) {
  TrialDetails details = disturbed_details();
  details.log_tail.clear();
  std::istringstream lines(text_of(disturbed_trial(), details, k_terminal));
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), k_terminal) << line;
}

}  // namespace
}  // namespace steptune
