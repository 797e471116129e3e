// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/history.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/numbers.hpp"
#include "tests/unit/history/fixture.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TrialRecord full_trial(std::int64_t number) {
  TrialRecord trial = launching_trial(number);
  trial.status = TrialStatus::completed;
  trial.purpose = TrialPurpose::hint;
  trial.confirm_pair = 2;
  trial.origin = "try";
  trial.attempt = 3;
  trial.token = "12:34";
  trial.started_wall_s = 1000.5;
  trial.ended_wall_s = 1060.25;
  trial.spent_s = 61.0;
  trial.spent_usd = 0.25;
  Measurement measurement;
  measurement.status = MeasurementStatus::steady;
  measurement.seconds_per_sample = 0.1 + 0.2;
  measurement.half_width_s = 1e-3;
  measurement.startup_s = 3.5;
  measurement.step_seconds_per_sample = 0.25;
  measurement.step_half_width_s = 2e-3;
  measurement.step_standard_error_s = 5e-4;
  measurement.slowest_seconds_per_sample = 0.5;
  measurement.warmup_excess_s = 1.25;
  measurement.phases["evaluation"] = {3.0, 2.0, 0.125, 6400.0, 0.0};
  measurement.phases[std::string(k_stall_phase)] = {1.0, 0.5, k_infinity, k_nan, k_infinity};
  measurement.level_changes = {
      {3200.0, 40.0, 1.5, MachineFigureChange{"cpu_clock_hz", 3.5e9, 2.25e9}},
      {6400.0, 80.0, 1.25, {}}};
  measurement.remark = "the clock went back";
  measurement.window_steps = 120;
  measurement.whole_run = true;
  measurement.silent_s = 12.5;
  measurement.metrics = {{"loss", 2.5}, {"loss@20000", 2.75}};
  measurement.metric_errors = {{"loss@20000", 0.125}};
  measurement.parts = {{"data", 0.01}};
  measurement.not_finite = {"grad_norm"};
  trial.measurement = measurement;
  trial.milestones = {{0.125, {-0.5, 0.75}, {0.01, 0.0}}, {0.25, {-0.625, 0.75}, {0.005, 0.0}}};
  trial.rungs = {{0.5, {-0.75}, {0.25}}};
  trial.hook = Json{{"versions", {{"torch", "2.1"}}}};
  trial.expected_improvement = 0.0625;
  trial.level = {0.125, 0.0625};
  trial.objectives = {12.5, 0.75};
  trial.standard_errors = {0.5, 0.0};
  trial.peak_memory_bytes = 1e9;
  trial.disturbance = Disturbance{0.25, 0.125};
  trial.gpu = GpuUse{9e9, 0.75, 0.5, 1.8e9, 0.125, 2};
  trial.disturbed_s = 3.5;
  trial.cpu_busy = 0.96875;
  trial.cpu_clock = {3.25e9, 2.5e9};
  trial.storage_read_bytes = 4096.0;
  trial.awaited_start_s = 21.5;
  trial.peak_unreclaimable_bytes = 8192.0;
  trial.failure = "a \"reason\"\nwith lines";
  trial.placement = {{"cpus", "0-1"}};
  trial.log_path = "/tmp/logs/trial 1.log";
  return trial;
}

class HistoryTest : public HistoryFixture {};

TEST_F(HistoryTest, ATrialComesBackAsItWasRecorded) {
  History history = open();
  const auto study = make_study(history);
  const TrialRecord trial = full_trial(1);
  must(history.record_ended(study.id, trial));

  const TrialRecord read = must(history.trial(study.id, 1));
  EXPECT_EQ(read.number, 1);
  EXPECT_EQ(read.purpose, trial.purpose);
  EXPECT_EQ(read.confirm_pair, 2);
  EXPECT_EQ(read.origin, "try");
  EXPECT_EQ(read.configuration, trial.configuration);
  EXPECT_EQ(read.status, trial.status);
  EXPECT_EQ(read.attempt, 3);
  ASSERT_EQ(read.milestones.size(), 2U);
  EXPECT_EQ(read.milestones[0].fidelity, 0.125);
  EXPECT_EQ(read.milestones[1].values, trial.milestones[1].values);
  EXPECT_EQ(read.milestones[1].standard_errors, trial.milestones[1].standard_errors);
  ASSERT_EQ(read.rungs.size(), 1U);
  EXPECT_EQ(read.rungs[0].values, trial.rungs[0].values);
  const auto without = must(history.trials(study.id, Milestones::leave));
  EXPECT_TRUE(without[0].milestones.empty() && without[0].rungs.empty());
  EXPECT_EQ(without[0].measurement->parts, trial.measurement->parts)
      << "all other fields are there";
  EXPECT_EQ(read.hook, trial.hook);
  EXPECT_EQ(read.expected_improvement, 0.0625);
  EXPECT_EQ(read.token, trial.token);
  EXPECT_EQ(read.started_wall_s, trial.started_wall_s);
  EXPECT_EQ(read.ended_wall_s, trial.ended_wall_s);
  EXPECT_EQ(read.spent_s, trial.spent_s);
  EXPECT_EQ(read.spent_usd, trial.spent_usd);
  ASSERT_TRUE(read.measurement);
  EXPECT_EQ(read.measurement->status, MeasurementStatus::steady);
  EXPECT_EQ(read.measurement->seconds_per_sample, trial.measurement->seconds_per_sample);
  EXPECT_EQ(read.measurement->half_width_s, trial.measurement->half_width_s);
  EXPECT_EQ(read.measurement->startup_s, 3.5);
  EXPECT_EQ(read.measurement->step_seconds_per_sample, 0.25);
  EXPECT_EQ(read.measurement->step_half_width_s, 2e-3);
  EXPECT_EQ(read.measurement->step_standard_error_s, 5e-4);
  EXPECT_EQ(read.measurement->slowest_seconds_per_sample, 0.5);
  EXPECT_EQ(read.measurement->warmup_excess_s, 1.25);
  EXPECT_TRUE(read.measurement->whole_run);
  ASSERT_EQ(read.measurement->phases.size(), 2U);
  const PhaseEstimate& evaluation = read.measurement->phases.at("evaluation");
  EXPECT_EQ(evaluation.count, 3.0);
  EXPECT_EQ(evaluation.seconds, 2.0);
  EXPECT_EQ(evaluation.seconds_error, 0.125);
  EXPECT_EQ(evaluation.period_samples, 6400.0);
  EXPECT_EQ(evaluation.period_error, 0.0);
  const PhaseEstimate& stall = read.measurement->phases.at(std::string(k_stall_phase));
  EXPECT_EQ(stall.seconds, 0.5);
  EXPECT_TRUE(std::isinf(stall.seconds_error));
  EXPECT_TRUE(std::isnan(stall.period_samples));
  ASSERT_EQ(read.measurement->level_changes.size(), 2U);
  EXPECT_EQ(read.measurement->level_changes[0].at_samples, 3200.0);
  EXPECT_EQ(read.measurement->level_changes[0].at_s, 40.0);
  EXPECT_EQ(read.measurement->level_changes[0].ratio, 1.5);
  ASSERT_TRUE(read.measurement->level_changes[0].machine);
  EXPECT_EQ(read.measurement->level_changes[0].machine->figure, "cpu_clock_hz");
  EXPECT_EQ(read.measurement->level_changes[0].machine->before, 3.5e9);
  EXPECT_EQ(read.measurement->level_changes[0].machine->after, 2.25e9);
  EXPECT_FALSE(read.measurement->level_changes[1].machine);
  EXPECT_EQ(read.measurement->remark, "the clock went back");
  EXPECT_EQ(read.measurement->silent_s, 12.5);
  EXPECT_EQ(read.measurement->window_steps, 120);
  EXPECT_EQ(read.measurement->metrics, trial.measurement->metrics);
  EXPECT_EQ(read.measurement->metric_errors, trial.measurement->metric_errors);
  EXPECT_EQ(read.measurement->parts, trial.measurement->parts);
  EXPECT_EQ(read.measurement->not_finite, trial.measurement->not_finite);
  EXPECT_EQ(read.objectives, trial.objectives);
  EXPECT_EQ(read.standard_errors, trial.standard_errors);
  EXPECT_EQ(read.peak_memory_bytes, trial.peak_memory_bytes);
  ASSERT_TRUE(read.disturbance);
  ASSERT_TRUE(read.gpu);
  EXPECT_EQ(read.gpu->peak_memory_bytes, 9e9);
  EXPECT_EQ(read.gpu->peak_memory_share, 0.75);
  EXPECT_EQ(read.gpu->utilisation, 0.5);
  EXPECT_EQ(read.gpu->sm_clock_hz, 1.8e9);
  EXPECT_EQ(read.gpu->slowed_share, 0.125);
  EXPECT_EQ(read.gpu->most_other_processes, 2);
  EXPECT_EQ(read.level.log_ratio, 0.125);
  EXPECT_EQ(read.level.standard_error, 0.0625);
  EXPECT_EQ(read.disturbed_s, 3.5);
  EXPECT_EQ(read.cpu_busy, 0.96875);
  ASSERT_TRUE(read.cpu_clock);
  EXPECT_EQ(read.cpu_clock->mean_hz, 3.25e9);
  EXPECT_EQ(read.cpu_clock->lowest_hz, 2.5e9);
  EXPECT_EQ(read.storage_read_bytes, 4096.0);
  EXPECT_EQ(read.awaited_start_s, 21.5);
  EXPECT_EQ(read.peak_unreclaimable_bytes, 8192.0);
  EXPECT_EQ(read.disturbance->other_load, 0.25);
  EXPECT_EQ(read.disturbance->steal, 0.125);
  EXPECT_EQ(read.failure, trial.failure);
  EXPECT_EQ(read.placement, trial.placement);
  EXPECT_EQ(read.log_path, trial.log_path);
}

TEST_F(HistoryTest, NumbersThatAreNotFiniteComeBackAsUnknown) {
  History history = open();
  const auto study = make_study(history);
  TrialRecord trial = full_trial(1);
  trial.disturbance = Disturbance{.other_load = k_nan, .steal = 0.125};
  trial.objectives = {k_nan, k_infinity};
  trial.standard_errors = {k_infinity, 1.0};
  trial.measurement = Measurement{};
  trial.measurement->metrics = {{"loss", k_nan}, {"accuracy", 0.5}};
  must(history.record_ended(study.id, trial));

  const TrialRecord read = must(history.trial(study.id, 1));
  ASSERT_TRUE(read.disturbance);
  EXPECT_TRUE(std::isnan(read.disturbance->other_load));
  EXPECT_EQ(read.disturbance->steal, 0.125);
  ASSERT_EQ(read.objectives.size(), 2U);
  EXPECT_TRUE(std::isnan(read.objectives[0]));
  EXPECT_TRUE(std::isnan(read.objectives[1]));
  EXPECT_EQ(read.standard_errors, (std::vector<double>{k_infinity, 1.0}));
  EXPECT_TRUE(std::isnan(read.measurement->seconds_per_sample));
  EXPECT_TRUE(std::isinf(read.measurement->half_width_s));
  EXPECT_EQ(read.measurement->metrics, (std::map<std::string, double>{{"accuracy", 0.5}}));
  EXPECT_TRUE(must(history.ranked_trials(study.id, 10)).empty());
}

TEST_F(HistoryTest, ATrialGoesThroughItsStates) {
  History history = open();
  const auto study = make_study(history);
  TrialRecord trial = launching_trial(1);
  must(history.record_launching(study.id, trial));
  EXPECT_EQ(must(history.trial(study.id, 1)).status, TrialStatus::launching);

  must(history.record_running(study.id, 1, "token", {{"cpus", "0"}}));
  const TrialRecord running = must(history.trial(study.id, 1));
  EXPECT_EQ(running.status, TrialStatus::running);
  EXPECT_EQ(running.token, "token");
  EXPECT_EQ(running.placement.at("cpus"), "0");

  trial.status = TrialStatus::interrupted;
  StudyRecord totals = study;
  totals.elapsed_s = 12.0;
  totals.overhead_usd = 0.25;
  must(history.record_ended(study.id, trial, &totals));
  EXPECT_EQ(must(history.study("s")).elapsed_s, 12.0);
  EXPECT_EQ(must(history.study("s")).overhead_usd, 0.25);

  trial.status = TrialStatus::launching;
  trial.attempt = 2;
  must(history.record_launching(study.id, trial));
  trial.status = TrialStatus::failed;
  must(history.record_ended(study.id, trial));
  EXPECT_EQ(must(history.trial(study.id, 1)).attempt, 2);
}

TEST_F(HistoryTest, ARunningTrialOutlivesItsWriter) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto history = History::open_for_writing(path(), clock_);
    const auto study = history->create_or_continue_study("s", "p", Json{}, 1);
    const bool recorded = history->record_launching(study->id, launching_trial(1)) &&
                          history->record_running(study->id, 1, "token", {});
    if (recorded) raise(SIGKILL);
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  History history = open();
  EXPECT_EQ(must(history.trial(must(history.study("s")).id, 1)).token, "token");
}

TEST_F(HistoryTest, AnEndedTrialCannotBeChanged) {
  History history = open();
  const auto study = make_study(history);
  must(history.record_ended(study.id, full_trial(1)));
  EXPECT_FALSE(history.record_launching(study.id, launching_trial(1)));
  EXPECT_FALSE(history.record_running(study.id, 1, "", {}));
  TrialRecord failed = full_trial(1);
  failed.status = TrialStatus::failed;
  EXPECT_FALSE(history.record_ended(study.id, failed));
  EXPECT_EQ(must(history.trial(study.id, 1)).status, TrialStatus::completed);
  EXPECT_FALSE(history.record_running(study.id, 2, "", {})) << "never launched";
}

TEST_F(HistoryTest, RanksByTheFirstObjective) {
  History history = open();
  const auto study = make_study(history);
  const auto add = [&](std::int64_t number, TrialStatus status, double value,
                       TrialPurpose purpose = TrialPurpose::search) {
    TrialRecord trial = full_trial(number);
    trial.status = status;
    trial.purpose = purpose;
    trial.objectives = {value, 1.0};
    must(history.record_ended(study.id, trial));
  };
  add(1, TrialStatus::completed, 5.0, TrialPurpose::baseline);
  add(2, TrialStatus::stopped_early, 3.0);
  add(3, TrialStatus::infeasible, 1.0);
  add(4, TrialStatus::completed, 2.0);
  add(5, TrialStatus::failed, 0.5);
  add(6, TrialStatus::completed, 1.5, TrialPurpose::confirm_incumbent);
  add(7, TrialStatus::completed, 2.0);
  add(8, TrialStatus::completed, 1.75, TrialPurpose::sentinel);

  const auto numbers = [](const std::vector<TrialRecord>& trials) {
    std::vector<std::int64_t> result;
    for (const auto& trial : trials)
      result.push_back(trial.number);
    return result;
  };
  EXPECT_THAT(numbers(must(history.ranked_trials(study.id, 10))), ElementsAre(4, 7, 2, 1));
  EXPECT_THAT(numbers(must(history.ranked_trials(study.id, 2))), ElementsAre(4, 7));
  EXPECT_THAT(numbers(must(history.ranked_trials(study.id, 2, true))), ElementsAre(1, 2));
  EXPECT_THAT(numbers(must(history.standing_trials(study.id, 1))), ElementsAre(1, 4, 6, 8));
  EXPECT_THAT(numbers(must(history.standing_trials(study.id, 2, true))),
              ElementsAre(1, 4, 6, 7, 8));
  EXPECT_THAT(numbers(must(history.latest_trials(study.id, TrialStatus::completed, 2))),
              ElementsAre(8, 7));
  const auto counts = must(history.status_counts(study.id));
  EXPECT_EQ(counts.at(TrialStatus::completed), 5);
  EXPECT_EQ(counts.at(TrialStatus::failed), 1);
  EXPECT_FALSE(counts.contains(TrialStatus::running));
}

TEST_F(HistoryTest, CountsFollowEveryChangeOfState) {
  History history = open();
  const auto study = make_study(history);
  const auto counts = [&] { return must(history.status_counts(study.id)); };
  using Counts = std::map<TrialStatus, std::int64_t>;
  EXPECT_EQ(counts(), Counts{});
  must(history.record_launching(study.id, launching_trial(1)));
  must(history.record_launching(study.id, launching_trial(2)));
  EXPECT_EQ(counts(), (Counts{{TrialStatus::launching, 2}}));
  must(history.record_running(study.id, 1, "", {}));
  EXPECT_EQ(counts(), (Counts{{TrialStatus::launching, 1}, {TrialStatus::running, 1}}));
  must(history.record_ended(study.id, full_trial(1)));
  must(history.record_launching(study.id, launching_trial(2)));
  EXPECT_EQ(counts(), (Counts{{TrialStatus::launching, 1}, {TrialStatus::completed, 1}}));
}

TEST_F(HistoryTest, ARemovedStudyLeavesNothingBehindAndOthersAlone) {
  History history = open();
  const auto removed = make_study(history);
  const auto kept = must(history.create_or_continue_study("kept", "f", Json{{"name", "kept"}}, 1));
  must(history.record_ended(removed.id, full_trial(1)));
  must(history.record_ended(kept.id, full_trial(1)));
  must(history.remove_study(removed.id));
  EXPECT_FALSE(history.study("s"));
  EXPECT_EQ(must(history.trials(kept.id)).size(), 1U);

  const auto again = must(history.create_or_continue_study("s", "other", Json{{"name", "s"}}, 7));
  EXPECT_TRUE(must(history.trials(again.id)).empty());
  EXPECT_TRUE(must(history.status_counts(again.id)).empty());
  EXPECT_EQ(again.seed, 7U);
}

TEST_F(HistoryTest, AnImportedStudyIsAddedAtomically) {
  History history = open();
  StudyRecord elsewhere;
  elsewhere.name = "elsewhere";
  elsewhere.fingerprint = "imported-1";
  elsewhere.document = {{"name", "elsewhere"}};
  elsewhere.seed = std::numeric_limits<std::uint64_t>::max();
  elsewhere.status = StudyStatus::finished;
  elsewhere.stop_reason = "imported";
  // The second trial cannot be stored, and a partly stored study would be worse than none.
  ASSERT_FALSE(history.add_ended_study(elsewhere, {full_trial(1), full_trial(1)}));
  ASSERT_FALSE(history.study("elsewhere"));

  ASSERT_TRUE(history.add_ended_study(elsewhere, {full_trial(1), full_trial(2)}));
  const auto stored = history.study("elsewhere");
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->status, StudyStatus::finished);
  EXPECT_EQ(stored->stop_reason, "imported");
  EXPECT_EQ(stored->seed, elsewhere.seed);
  EXPECT_EQ(history.trials(stored->id)->size(), 2U);
  EXPECT_EQ(history.status_counts(stored->id)->at(TrialStatus::completed), 2);
  const auto again = history.add_ended_study(elsewhere, {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::conflict);
}

TEST_F(HistoryTest, AStudyIsContinuedUnderItsSeedWithTheNewDocument) {
  History history = open();
  const std::uint64_t seed = 0xFFFF'FFFF'FFFF'FFFFULL;
  const auto first =
      must(history.create_or_continue_study("s", "print", Json{{"budget", 1}}, seed));
  EXPECT_EQ(first.seed, seed);
  EXPECT_EQ(first.status, StudyStatus::running);
  const auto second = must(history.create_or_continue_study("s", "print", Json{{"budget", 2}}, 7));
  EXPECT_EQ(second.id, first.id);
  EXPECT_EQ(second.seed, seed);
  EXPECT_EQ(second.document.at("budget"), 2);

  const auto other = history.create_or_continue_study("s", "another", Json{}, seed);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::conflict);
}

TEST_F(HistoryTest, TheLatestStudyIgnoresAClockSetBack) {
  for (const auto& [name, wall_time_s] : {std::pair("first", 2e9), std::pair("second", 1e9)}) {
    const VirtualClock clock(wall_time_s);
    must(must(History::open_for_writing(path(), clock))
             .create_or_continue_study(name, "p", Json{}, 1));
  }
  const History history = must(History::open_for_reading(path()));
  EXPECT_EQ(must(history.study("")).name, "second");
  EXPECT_EQ(must(history.studies()).front().name, "first");
}

TEST_F(HistoryTest, StudiesAreFoundByNameOrAsTheLatest) {
  History history = open();
  const auto nothing = history.study("");
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().kind, ErrorKind::not_found);
  must(history.create_or_continue_study("first-study", "p", Json{}, 1));
  clock_.advance_to(10.0);
  StudyRecord latest = must(history.create_or_continue_study("second", "p", Json{}, 1));
  EXPECT_EQ(must(history.study("")).name, "second");
  EXPECT_EQ(must(history.study("first-study")).name, "first-study");
  const auto wrong = history.study("first-stud");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text(), HasSubstr("first-study"));
  for (int i = 0; i < 30; ++i)
    must(history.create_or_continue_study(fmt::format("night-{}", i), "p", Json{}, 1));
  EXPECT_THAT(history.study("first-stud").error().hint, HasSubstr("its 32 studies"));
  EXPECT_THAT(history.study("first-stud").error().text(), HasSubstr("did you mean"));

  latest.status = StudyStatus::finished;
  latest.stop_reason = "budget";
  latest.elapsed_s = 5.0;
  latest.recommendation = Json{{"incumbent", 3}};
  must(history.record_study(latest));
  const auto read = must(history.study("second"));
  EXPECT_EQ(read.status, StudyStatus::finished);
  EXPECT_EQ(read.stop_reason, "budget");
  EXPECT_EQ(read.recommendation.at("incumbent"), 3);
}

TEST_F(HistoryTest, ReadersSeeCommittedTrialsWhileTheWriterIsOpen) {
  History writer = open();
  const auto study = make_study(writer);
  const History reader = must(History::open_for_reading(path()));
  must(writer.record_ended(study.id, full_trial(1)));
  EXPECT_EQ(must(reader.trials(study.id)).size(), 1U);
}

TEST_F(HistoryTest, AReaderCannotWrite) {
  const auto study_id = [&] {
    History writer = open();
    return make_study(writer).id;
  }();
  History reader = must(History::open_for_reading(path()));
  const auto written = reader.record_launching(study_id, launching_trial(1));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::store);
}

TEST_F(HistoryTest, FilesAreForTheirOwnerOnly) {
  History history = open();
  make_study(history);
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
    struct stat status {};
    ASSERT_EQ(stat((path().string() + suffix).c_str(), &status), 0) << suffix;
    EXPECT_EQ(status.st_mode & 0777U, 0600U) << suffix;
  }
}

TEST(HistoryNames, AreReadBackAsWritten) {
  for (const char* name :
       {"baseline", "hint", "search", "sentinel", "confirm_incumbent", "confirm_baseline"}) {
    const auto purpose = trial_purpose_from_text(name);
    ASSERT_TRUE(purpose) << name;
    EXPECT_EQ(to_text(*purpose), name);
  }
  for (const char* name : {"launching", "running", "completed", "stopped_early", "infeasible",
                           "failed", "out_of_memory", "interrupted"}) {
    const auto status = trial_status_from_text(name);
    ASSERT_TRUE(status) << name;
    EXPECT_EQ(to_text(*status), name);
  }
  for (const char* name : {"running", "interrupted", "finished"}) {
    const auto status = study_status_from_text(name);
    ASSERT_TRUE(status) << name;
    EXPECT_EQ(to_text(*status), name);
  }
  EXPECT_FALSE(trial_status_from_text("done"));
}

TEST(HistoryNames, EveryStateCanBeStored) {
  const DatabaseFolder folder;
  VirtualClock clock;
  History history = must(History::open_for_writing(folder.path() / "history.db", clock));
  const auto study = must(history.create_or_continue_study("s", "p", Json{}, 1));
  std::int64_t number = 0;
  for (const TrialStatus status :
       {TrialStatus::completed, TrialStatus::stopped_early, TrialStatus::infeasible,
        TrialStatus::failed, TrialStatus::out_of_memory, TrialStatus::interrupted}) {
    for (const TrialPurpose purpose :
         {TrialPurpose::baseline, TrialPurpose::hint, TrialPurpose::search, TrialPurpose::sentinel,
          TrialPurpose::confirm_incumbent, TrialPurpose::confirm_baseline}) {
      TrialRecord trial = full_trial(++number);
      trial.status = status;
      trial.purpose = purpose;
      must(history.record_ended(study.id, trial));
      const auto read = must(history.trial(study.id, number));
      EXPECT_EQ(read.status, status);
      EXPECT_EQ(read.purpose, purpose);
    }
  }
}

}  // namespace
}  // namespace steptune
