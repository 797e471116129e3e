// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "tests/unit/history/fixture.hpp"

namespace steptune {
namespace {

class HistoryDetails : public HistoryFixture {
 protected:
  static TrialRecord ended(std::int64_t number, TrialStatus status = TrialStatus::completed) {
    TrialRecord trial = launching_trial(number);
    trial.status = status;
    trial.ended_wall_s = 100.0;
    return trial;
  }

  static TrialTrace some_trace() {
    TrialTrace trace;
    trace.progress.points = {{1.25, 64, 1}, {2.5000001, 128, 2}};
    trace.progress.phases = {{"evaluation", 1.5, 2.0}};
    trace.disturbed = {{0.5, 1.5, Disturbance{0.25, 0.125, 1, 0.5, 0.75, 0.375, true}}};
    trace.decisions = {{2.0,
                        30,
                        true,
                        {1.5, 2.5},
                        {0.25, std::numeric_limits<double>::infinity()},
                        "slower than trial 3"}};
    trace.spared_startup_s = 12.25;
    trace.machine = {
        {.from_s = 0.0, .to_s = 1.0, .steal = 0.0, .storage_pressure = 0.125},
        {.from_s = 1.0, .to_s = 2.0625, .steal = 0.0, .cpu_clock_hz = 2.25e9},
    };
    return trace;
  }
};

TEST_F(HistoryDetails, UnusedMachineTimesEndWithTheirStudy) {
  History history = open();
  auto study = make_study(history);
  study.unused = {{"job-b", 200.0, 210.0, 0.5}, {"job-a", 100.0, 130.0, 1.5}};
  must(history.record_ended(study.id, ended(1), &study));
  study.unused = {{"job-b", 200.0, 230.0, 1.0}, {"job-b", 300.0, 301.0, 0.0}};
  must(history.record_study(study));

  const auto times = must(history.unused_times(study.id));
  ASSERT_EQ(times.size(), 3U);
  EXPECT_EQ(times[0].machine, "job-a");
  EXPECT_EQ(times[1].machine, "job-b");
  EXPECT_DOUBLE_EQ(times[1].to_wall_s, 230.0) << "the second record of job-b extends the first";
  EXPECT_DOUBLE_EQ(times[1].usd, 1.5) << "the second record adds its cost";
  EXPECT_DOUBLE_EQ(times[2].from_wall_s, 300.0);
  must(history.remove_study(study.id));
  EXPECT_TRUE(must(history.unused_times(study.id)).empty());
}

TEST_F(HistoryDetails, DecisionsComeBackInOrderAndEndWithTheirStudy) {
  History history = open();
  auto study = make_study(history);
  study.decisions = {
      {100.0, "guard", 1, "", Json{{"metric", "loss"}, {"max", 2.5}}},
      {100.0, "judge", 7, "batch_size=64",
       Json{{"settled", true}, {"pairs", 2}, {"ratio", std::numeric_limits<double>::quiet_NaN()}}}};
  must(history.record_ended(study.id, ended(1), &study));
  study.decisions = {{90.0, "end", 0, "12 trials"}};
  must(history.record_study(study));

  const auto decisions = must(history.decisions(study.id));
  ASSERT_EQ(decisions.size(), 3U);
  EXPECT_EQ(decisions[0].kind, "guard");
  EXPECT_DOUBLE_EQ(decisions[0].at_wall_s, 100.0);
  EXPECT_EQ(decisions[0].trial, 1);
  EXPECT_EQ(decisions[0].numbers, (Json{{"metric", "loss"}, {"max", 2.5}}));
  EXPECT_EQ(decisions[1].text, "batch_size=64");
  EXPECT_EQ(decisions[1].numbers["settled"], true);
  EXPECT_TRUE(decisions[1].numbers["ratio"].is_null()) << "was not finite";
  EXPECT_EQ(decisions[2].kind, "end") << "in the order of recording, even if the clock went back";
  EXPECT_EQ(decisions[2].trial, 0);
  EXPECT_EQ(decisions[2].numbers, Json::object());
  must(history.remove_study(study.id));
  EXPECT_TRUE(must(history.decisions(study.id)).empty());
}

TEST_F(HistoryDetails, ATraceComesBackAsItWasRecorded) {
  History history = open();
  const auto study = make_study(history);
  must(history.record_ended(study.id, ended(1), {}, some_trace()));
  must(history.record_ended(study.id, ended(2)));

  const auto read = must(history.trace(study.id, 1));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->progress.points.size(), 2U);
  EXPECT_EQ(read->progress.points[0], (TracePoint{1.25, 64, 1}));
  EXPECT_DOUBLE_EQ(read->progress.points[1].at_s, 2.5) << "to the microsecond";
  EXPECT_EQ(read->progress.phases, some_trace().progress.phases);
  ASSERT_EQ(read->disturbed.size(), 1U);
  EXPECT_EQ(read->disturbed[0].to_s, 1.5);
  EXPECT_EQ(read->disturbed[0].disturbance.steal, 0.125);
  EXPECT_EQ(read->disturbed[0].disturbance.other_gpu_processes, 1);
  EXPECT_EQ(read->disturbed[0].disturbance.memory_pressure, 0.5);
  EXPECT_EQ(read->disturbed[0].disturbance.storage_pressure, 0.75);
  EXPECT_EQ(read->disturbed[0].disturbance.quota_wait, 0.375);
  EXPECT_TRUE(read->disturbed[0].disturbance.clocks_throttled);
  ASSERT_EQ(read->decisions.size(), 1U);
  EXPECT_TRUE(read->decisions[0].stop);
  EXPECT_EQ(read->decisions[0].values, (std::vector{1.5, 2.5}));
  EXPECT_TRUE(std::isnan(read->decisions[0].half_widths[1])) << "was not finite";
  EXPECT_EQ(read->decisions[0].reason, "slower than trial 3");
  EXPECT_EQ(read->spared_startup_s, 12.25);
  ASSERT_EQ(read->machine.size(), 2U);
  EXPECT_EQ(read->machine[0].storage_pressure, 0.125);
  EXPECT_EQ(read->machine[0].steal, 0.0);
  EXPECT_TRUE(std::isnan(read->machine[0].cpu_clock_hz));
  EXPECT_EQ(read->machine[1].from_s, 1.0);
  EXPECT_NEAR(read->machine[1].to_s, 2.0625, 1e-3);
  EXPECT_EQ(read->machine[1].cpu_clock_hz, 2.25e9);
  EXPECT_TRUE(std::isnan(read->machine[1].storage_pressure));
  EXPECT_TRUE(std::isnan(read->machine[1].memory_pressure)) << "never reported";
  EXPECT_FALSE(must(history.trace(study.id, 2))) << "the trial had no reports";
  EXPECT_FALSE(must(history.trace(study.id, 3)));

  must(history.record_ended(study.id, ended(4), {}, some_trace()));
  std::vector<std::int64_t> numbers;
  must(history.traces(study.id, [&](std::int64_t number, const TrialTrace& trace) {
    numbers.push_back(number);
    EXPECT_EQ(trace.progress.points, read->progress.points);
  }));
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{1, 4}));
}

TEST_F(HistoryDetails, AnUnknownLoadOfATraceComesBackAsUnknown) {
  History history = open();
  const auto study = make_study(history);
  TrialTrace trace;
  trace.disturbed = {{0.0, 1.0, {.other_load = std::nan(""), .steal = 0.75}}};
  must(history.record_ended(study.id, ended(1), {}, trace));
  const auto read = must(history.trace(study.id, 1));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->disturbed.size(), 1U);
  EXPECT_TRUE(std::isnan(read->disturbed[0].disturbance.other_load));
  EXPECT_EQ(read->disturbed[0].disturbance.steal, 0.75);
}

TEST_F(HistoryDetails, ATraceOfMachineFiguresAloneIsRecorded) {
  History history = open();
  const auto study = make_study(history);
  TrialTrace trace;
  EXPECT_TRUE(trace.empty());
  trace.machine = {{.from_s = 0.0, .to_s = 1.0, .steal = 0.25}};
  must(history.record_ended(study.id, ended(1), {}, trace));

  const auto read = must(history.trace(study.id, 1));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->machine.size(), 1U);
  EXPECT_EQ(read->machine[0].steal, 0.25);
}

TEST_F(HistoryDetails, ALaterAttemptDoesNotKeepTheTraceOfTheOneBefore) {
  History history = open();
  const auto study = make_study(history);
  TrialRecord trial = ended(1, TrialStatus::interrupted);
  must(history.record_ended(study.id, trial, {}, some_trace()));
  EXPECT_TRUE(must(history.trace(study.id, 1)));
  trial.attempt = 2;
  trial.status = TrialStatus::launching;
  must(history.record_launching(study.id, trial));
  trial.status = TrialStatus::interrupted;
  must(history.record_ended(study.id, trial));
  EXPECT_FALSE(must(history.trace(study.id, 1)));

  trial.attempt = 3;
  trial.status = TrialStatus::launching;
  must(history.record_launching(study.id, trial));
  trial.status = TrialStatus::interrupted;
  must(history.record_ended(study.id, trial, {}, some_trace()));
  trial.status = TrialStatus::failed;
  must(history.record_ended(study.id, trial));
  EXPECT_TRUE(must(history.trace(study.id, 1))) << "the trace belongs to this attempt";
}

TEST_F(HistoryDetails, EachAttemptHasItsOwnBill) {
  History history = open();
  const auto study = make_study(history);
  TrialRecord trial = ended(1, TrialStatus::interrupted);
  trial.spent_s = 10.0;
  trial.spent_usd = 0.25;
  trial.failure = "lost";
  must(history.record_ended(study.id, trial));
  trial.attempt = 2;
  trial.status = TrialStatus::launching;
  must(history.record_launching(study.id, trial));
  trial.status = TrialStatus::completed;
  trial.failure.clear();
  trial.spent_s = 40.0;
  trial.spent_usd = 1.0;
  must(history.record_ended(study.id, trial));
  must(history.record_ended(study.id, ended(2)));

  const auto attempts = must(history.attempts(study.id, 1));
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[0].status, TrialStatus::interrupted);
  EXPECT_EQ(attempts[0].spent_s, 10.0);
  EXPECT_EQ(attempts[0].failure, "lost");
  EXPECT_EQ(attempts[1].attempt, 2);
  EXPECT_EQ(attempts[1].status, TrialStatus::completed);
  EXPECT_EQ(attempts[1].spent_s, 30.0);
  EXPECT_EQ(attempts[1].spent_usd, 0.75);
  EXPECT_TRUE(must(history.attempts(study.id, 2)).empty()) << "its record contains everything";
}

TEST_F(HistoryDetails, SpendingOfRunningTrialsIsKeptUntilTheyEnd) {
  History history = open();
  const auto study = make_study(history);
  TrialRecord trial = ended(1);
  trial.status = TrialStatus::launching;
  trial.spent_s = trial.spent_usd = 0.0;
  must(history.record_launching(study.id, trial));
  std::vector<TrialRecord> spent{ended(1), ended(2)};
  spent[0].spent_s = 30.0;
  spent[0].spent_usd = 0.5;
  spent[1].spent_s = 10.0;
  spent[1].spent_usd = 0.1;
  must(history.record_spent(study.id, spent, 40.0));
  EXPECT_EQ(must(history.trial(study.id, 1)).spent_s, 0.0) << "the trial is not known to run";
  must(history.record_running(study.id, 1, "token", {}));
  must(history.record_ended(study.id, ended(2)));
  must(history.record_spent(study.id, spent, 20.0));
  EXPECT_EQ(must(history.study(study.name)).elapsed_s, 40.0) << "time does not go back";
  EXPECT_EQ(must(history.trial(study.id, 1)).spent_s, 30.0);
  EXPECT_EQ(must(history.trial(study.id, 1)).spent_usd, 0.5);
  EXPECT_EQ(must(history.trial(study.id, 2)).spent_s, ended(2).spent_s)
      << "the bill of an ended trial is kept";
}

TEST_F(HistoryDetails, SessionsHaveTheMachineOfEachRun) {
  History history = open();
  const auto study = make_study(history);
  must(history.record_session(study.id, {{"cpu", "Xeon"}, {"kernel", "6.1"}}));
  clock_.advance_to(60.0);
  must(history.record_session(study.id, {{"cpu", "Xeon"}, {"kernel", "6.2"}}));
  const auto sessions = must(history.sessions(study.id));
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_EQ(sessions[0].machine.at("kernel"), "6.1");
  EXPECT_EQ(sessions[1].machine.at("kernel"), "6.2");
  EXPECT_EQ(sessions[1].started_wall_s, 60.0);
}

TEST_F(HistoryDetails, AreRemovedWithTheirStudy) {
  History history = open();
  const auto study = make_study(history);
  TrialRecord trial = ended(1, TrialStatus::interrupted);
  must(history.record_ended(study.id, trial, {}, some_trace()));
  must(history.record_session(study.id, {}));
  must(history.remove_study(study.id));
  EXPECT_FALSE(must(history.trace(study.id, 1)));
  EXPECT_TRUE(must(history.attempts(study.id, 1)).empty());
  EXPECT_TRUE(must(history.sessions(study.id)).empty());
}

TEST_F(HistoryDetails, ADamagedTraceIsAnErrorThatNamesTheFile) {
  {
    History history = open();
    const auto study = make_study(history);
    must(history.record_ended(study.id, ended(1), {}, some_trace()));
  }
  SQLite::Database(path().string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE traces SET trace = 'not JSON'");
  const History history = must(History::open_for_reading(path()));
  const auto read = history.trace(must(history.study("s")).id, 1);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::store);
  EXPECT_NE(read.error().text().find("history.db"), std::string::npos);
}

TEST_F(HistoryDetails, NightsComeBackInOrderAndAreReplaced) {
  History history = open();
  EXPECT_TRUE(must(history.nights("s")).empty());
  must(history.record_night("s", {2, 20.0, "running", Json{{"phase", "check"}}}));
  must(history.record_night("s", {1, 10.0, "kept", Json{{"phase", "search"}}}));
  must(history.record_night("other", {1, 11.0, "failed", Json::object()}));
  must(history.record_night("s", {2, 20.0, "improved", Json{{"phase", "confirmation"}}}));
  const auto nights = must(history.nights("s"));
  ASSERT_EQ(nights.size(), 2U);
  EXPECT_EQ(nights[0].status, "kept");
  EXPECT_EQ(nights[1].status, "improved");
  EXPECT_DOUBLE_EQ(nights[1].started_wall_s, 20.0);
  EXPECT_EQ(nights[1].record, (Json{{"phase", "confirmation"}}));
  EXPECT_FALSE(history.record_night("s", {3, 0.0, "no such state", Json::object()}));
}

}  // namespace
}  // namespace steptune
