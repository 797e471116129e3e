// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/running_trial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/unit/verdict/fixture.hpp"

namespace steptune {
namespace {

/// Stops every trial at a given number of steps.
class StopsAt final : public Scheduler {
 public:
  explicit StopsAt(double steps) : steps_(steps) {}
  StopDecision on_estimate(const TrialEstimate& estimate) override {
    return {estimate.resource >= steps_, "one of the worst"};
  }
  void on_exempt(const TrialEstimate&) override {}
  void forget(std::int64_t) override {}

 private:
  double steps_;
};

class NoSearcher final : public Searcher {
 public:
  void observe(const Observation&) override {}
  [[nodiscard]] Result<std::optional<Suggestion>> suggest(const SuggestRequest&) override {
    return std::optional<Suggestion>{};
  }
};

Report report(double step, double received_s) {
  Report report;
  report.step = step;
  report.received_s = received_s;
  return report;
}

struct ReportedRun {
  int steps = 0;
  double at_s = 1.0;
};

/// Reports steps of about `step_s` until the trial must end. The scheduler stops it at `stops_at`
/// steps.
ReportedRun report_until_end(RunningTrial& trial, double stops_at, double step_s) {
  StopsAt scheduler(stops_at);
  NoSearcher searcher;
  ReportedRun reported_run;
  while (reported_run.steps < 2000 && !trial.wants_to_end(scheduler, searcher, nullptr)) {
    ++reported_run.steps;
    reported_run.at_s += step_s * (1.0 + 0.01 * (reported_run.steps % 3));
    trial.reported(report(reported_run.steps, reported_run.at_s));
  }
  return reported_run;
}

StudySpec study_of_long_windows() {
  StudySpec study = time_study();
  study.measure.min_window_steps = 1000;
  return study;
}

/// Returns a started trial; `study` must outlive it.
RunningTrial second_trial(const StudySpec& study) {
  TrialRecord record;
  record.number = 2;
  RunningTrial trial(study, record, 0.0, {study.measure});
  trial.started({{2, 1}, 0.0, "", {}});
  return trial;
}

TEST(RunningTrial, AStoppedTrialKeepsTheMeasurementFromWhenItsStopWasDecided) {
  const StudySpec study = study_of_long_windows();
  RunningTrial trial = second_trial(study);
  auto [step, now_s] = report_until_end(trial, 20, 0.1);
  ASSERT_LT(step, 100);
  // While the trial ends, its last steps slow down.
  for (int i = 1; i <= 30; ++i)
    trial.reported(report(++step, now_s += 1.0 * i));
  Outcome outcome;
  outcome.kind = OutcomeKind::stopped;
  const TrialRecord ended = trial.finished(outcome, nullptr, 0.0);
  EXPECT_EQ(ended.status, TrialStatus::stopped_early);
  EXPECT_EQ(ended.failure, "one of the worst");
  ASSERT_EQ(ended.objectives.size(), 1U);
  EXPECT_LT(ended.measurement->seconds_per_sample, 0.11);
}

/// Records the latest estimate that it gets.
class Listens final : public Scheduler {
 public:
  StopDecision on_estimate(const TrialEstimate& estimate) override {
    latest = estimate;
    return {};
  }
  void on_exempt(const TrialEstimate&) override {}
  void forget(std::int64_t) override {}

  TrialEstimate latest;
};

TEST(RunningTrial, ARestartedCounterForgetsEarlierSteps) {
  const StudySpec study = study_of_long_windows();
  RunningTrial trial = second_trial(study);
  Listens scheduler;
  NoSearcher searcher;
  double now_s = 1.0;
  int restarts = 0;
  const auto tell = [&](int steps, double step_s) {
    for (int step = 1; step <= steps; ++step) {
      const double taken_s = step_s * (1.0 + 0.01 * (step % 3));
      restarts += trial.reported(report(step, now_s += taken_s)) ? 1 : 0;
      EXPECT_FALSE(trial.wants_to_end(scheduler, searcher, nullptr));
    }
  };
  tell(200, 0.1);
  const double before = scheduler.latest.values.at(0);
  EXPECT_GT(scheduler.latest.resource, 100.0);
  tell(100, 0.2);
  EXPECT_EQ(restarts, 1);
  EXPECT_LT(scheduler.latest.resource, 100.0);
  EXPECT_GT(scheduler.latest.values.at(0), 1.9 * before);
  const TrialRecord ended = trial.finished(Outcome{}, nullptr, 0.0);
  ASSERT_FALSE(ended.milestones.empty());
  for (const Milestone& milestone : ended.milestones)
    EXPECT_GT(milestone.values.at(0), 1.9 * before) << milestone.fidelity;
}

TEST(RunningTrial, AStoppedTrialMayMissTheDeadline) {
  StudySpec study = time_study();
  for (const double deadline_s : {50.0, 200.0}) {
    study.planned_run.deadline_s = deadline_s;
    TrialRecord record;
    record.number = 2;
    RunningTrial trial(study, record, 0.0, {study.measure});
    trial.started({{2, 1}, 0.0, "", {}});
    // A thousand samples take 100 s.
    ASSERT_LT(report_until_end(trial, 20, 0.1).steps, 100);
    Outcome outcome;
    outcome.kind = OutcomeKind::stopped;
    const TrialRecord ended = trial.finished(outcome, nullptr, 0.0);
    EXPECT_EQ(ended.status,
              deadline_s < 100.0 ? TrialStatus::infeasible : TrialStatus::stopped_early)
        << ended.failure;
  }
}

/// Returns the steps of 0.1 s (within 2 %) until the trial is measured.
int steps_until_measured(double usual_variance_s) {
  const StudySpec study = time_study();
  TrialRecord record;
  record.number = 2;
  TrialTargets targets{study.measure};
  targets.usual_variance_s = usual_variance_s;
  RunningTrial trial(study, record, 0.0, targets);
  trial.started({{2, 1}, 0.0, "", {}});
  return report_until_end(trial, 1e9, 0.1).steps;
}

TEST(RunningTrial, RunsLongerIfEarlierTrialsVariedMore) {
  const int alone = steps_until_measured(0.0);
  EXPECT_LT(alone, 40);
  EXPECT_EQ(steps_until_measured(1e-6), alone) << "as little as its own";
  const int beside = steps_until_measured(0.01);
  EXPECT_GT(beside, 2 * alone);
  EXPECT_LT(beside, 10 * alone) << "the trial's own steps gain weight";
}

/// Runs 230 steps of 0.1 s; if `stalls`, with a stall of 5 s after every 50th.
TrialRecord measured(const StudySpec& study, TrialPurpose purpose, bool stalls,
                     const TrialRecord* baseline) {
  TrialRecord record;
  record.number = 2;
  record.purpose = purpose;
  RunningTrial trial(study, record, 0.0, {study.measure});
  trial.started({{2, 1}, 0.0, "", {}});
  double now_s = 1.0;
  for (int step = 1; step <= 230; ++step) {
    trial.reported(report(step, now_s += 0.1 + 0.001 * (step % 3)));
    if (stalls && step % 50 == 0) now_s += 5.0;
  }
  Outcome outcome;
  outcome.kind = OutcomeKind::completed;
  return trial.finished(outcome, baseline, 0.0);
}

TEST(RunningTrial, ASearchTrialIgnoresStallsNewToAShortBaseline) {
  const StudySpec study = time_study();
  TrialRecord baseline = completed(1, 1.0);
  baseline.measurement = steady(0.1);
  baseline.measurement->total_samples = 30.0;
  const double without = measured(study, TrialPurpose::search, false, &baseline).objectives.at(0);
  const TrialRecord beside_short = measured(study, TrialPurpose::search, true, &baseline);
  EXPECT_NEAR(beside_short.objectives.at(0) / without, 1.0, 0.02);
  EXPECT_FALSE(beside_short.measurement->phases.empty()) << "they are recorded all the same";
  const TrialRecord fresh = measured(study, TrialPurpose::confirm_incumbent, true, &baseline);
  EXPECT_NEAR(fresh.objectives.at(0) / without, 2.0, 0.1) << "a fresh run counts all stalls";
  baseline.measurement->total_samples = 1000.0;
  const TrialRecord beside_long = measured(study, TrialPurpose::search, true, &baseline);
  EXPECT_NEAR(beside_long.objectives.at(0) / without, 2.0, 0.1) << "the baseline has no stalls";
}

TEST(RunningTrial, ARepeatedBaselineNeedNotReachItsGuards) {
  StudySpec study = time_study();
  Guard guard;
  guard.metric = "loss";
  guard.after_samples = 100'000;
  guard.max_ratio_to_baseline = 1.02;
  study.guards = {guard};
  TrialRecord baseline = completed(1, 1.0);
  baseline.measurement = steady(0.1);
  const auto status = [&](TrialPurpose purpose) {
    return measured(study, purpose, false, &baseline).status;
  };
  EXPECT_EQ(status(TrialPurpose::confirm_baseline), TrialStatus::completed);
  EXPECT_EQ(status(TrialPurpose::sentinel), TrialStatus::completed);
  EXPECT_EQ(status(TrialPurpose::confirm_incumbent), TrialStatus::infeasible);
  EXPECT_EQ(status(TrialPurpose::baseline), TrialStatus::infeasible);
}

/// Returns a study with a guard on the loss after 1000 samples, which take 100 s.
StudySpec guarded_study() {
  StudySpec study = time_study();
  Guard guard;
  guard.metric = "loss";
  guard.after_samples = 1000;
  guard.max_ratio_to_baseline = 1.02;
  study.guards = {guard};
  study.measure.max_trial_s = 300.0;
  study.limits.wall_s = 3600.0;
  return study;
}

/// Runs steps of 0.1 s with a loss of 2 until the trial's time is over.
TrialRecord out_of_time_at(const StudySpec& study, TrialPurpose purpose, TrialTargets targets) {
  TrialRecord baseline = completed(1, 1.0);
  baseline.measurement = steady(0.1);
  baseline.measurement->metrics["loss@1000"] = 2.0;
  TrialRecord record;
  record.number = 2;
  record.purpose = purpose;
  RunningTrial trial(study, record, 0.0, std::move(targets));
  trial.started({{2, 1}, 0.0, "", {}});
  double now_s = 1.0;
  for (int step = 1; !trial.out_of_time(now_s); ++step) {
    Report next_report = report(step, now_s += 0.1 + 0.01 * (step % 3));
    next_report.metrics["loss"] = 2.0;
    trial.reported(next_report);
  }
  Outcome outcome;
  outcome.kind = OutcomeKind::stopped;
  outcome.duration_s = outcome.billed_s = now_s;
  return trial.finished(outcome, &baseline, 0.0);
}

TEST(RunningTrial, GuardsUseLossesSinceTheLastRestart) {
  const StudySpec study = guarded_study();
  RunningTrial trial = second_trial(study);
  double now_s = 1.0;
  const auto tell = [&](int step, double loss) {
    Report next_report = report(step, now_s += 0.1);
    next_report.metrics["loss"] = loss;
    trial.reported(next_report);
  };
  for (int step = 1; step <= 1100; ++step)
    tell(step, 8.0);
  for (int step = 1; !trial.out_of_time(now_s); ++step)
    tell(step, 2.0);
  Outcome outcome;
  outcome.kind = OutcomeKind::stopped;
  outcome.duration_s = outcome.billed_s = now_s;
  const TrialRecord ended = trial.finished(outcome, nullptr, 0.0);
  ASSERT_TRUE(ended.measurement);
  EXPECT_NEAR(ended.measurement->metrics.at("loss@1000"), 2.0, 1e-9);
}

TEST(RunningTrial, AGuardExtendsTheShareOfTheTime) {
  StudySpec study = guarded_study();
  TrialTargets targets{study.measure};
  targets.share_of_budget_s = 20.0;
  const TrialRecord judged = out_of_time_at(study, TrialPurpose::search, targets);
  EXPECT_EQ(judged.status, TrialStatus::completed) << judged.failure;
  EXPECT_NEAR(judged.spent_s, 1.0 + 1250 * 0.11, 2.0) << "until the guard's window is full";
  study.guards.clear();
  const TrialRecord unguarded = out_of_time_at(study, TrialPurpose::search, targets);
  EXPECT_NEAR(unguarded.spent_s, 21.0, 1.0);
}

TEST(RunningTrial, OutOfTimeBeforeItsGuardIsInterrupted) {
  StudySpec study = guarded_study();
  study.budget.time_s = 60.0;
  TrialTargets targets{study.measure};
  targets.share_of_budget_s = 20.0;
  targets.budget_end_s = 50.0;
  const TrialRecord searched = out_of_time_at(study, TrialPurpose::search, targets);
  EXPECT_EQ(searched.status, TrialStatus::interrupted) << searched.failure;
  const TrialRecord fresh = out_of_time_at(study, TrialPurpose::confirm_incumbent, targets);
  EXPECT_EQ(fresh.status, TrialStatus::infeasible) << "nothing has kept the guard yet";
}

TEST(RunningTrial, AFinalistThatKeptItsGuardsNeedNotReachThem) {
  const StudySpec study = guarded_study();
  TrialTargets targets{study.measure};
  targets.share_of_budget_s = 20.0;
  targets.kept_guards = true;
  const TrialRecord fresh = out_of_time_at(study, TrialPurpose::confirm_incumbent, targets);
  EXPECT_EQ(fresh.status, TrialStatus::completed) << fresh.failure;
  EXPECT_NEAR(fresh.spent_s, 21.0, 1.0) << "its share of the time";
}

TEST(RunningTrial, NearlyFullMemoryIsInfeasible) {
  const StudySpec study = time_study();
  TrialRecord record;
  record.number = 2;
  RunningTrial trial(study, record, 0.0, {study.measure});
  trial.started({{2, 1}, 0.0, "", {}});
  double now_s = 1.0;
  for (int step = 1; step <= 60; ++step)
    trial.reported(report(step, now_s += 0.1 + 0.001 * (step % 3)));
  Outcome outcome;
  outcome.kind = OutcomeKind::completed;
  outcome.peak_unreclaimable_bytes = 9.5e9;
  outcome.usable_memory_bytes = 10e9;
  const TrialRecord ended = trial.finished(outcome, nullptr, 0.0);
  EXPECT_EQ(ended.status, TrialStatus::infeasible);
  EXPECT_THAT(ended.failure, ::testing::HasSubstr("limits.memory_share"));
}

/// Runs steps whose times vary by 24 % until the trial's time is over; then the runner stops it.
TrialRecord run_until_out_of_time(const StudySpec& study, double steps_s) {
  TrialRecord record;
  record.number = 2;
  RunningTrial trial(study, record, 0.0, {study.measure});
  trial.started({{2, 1}, 0.0, "", {}});
  double now_s = 1.0;
  int step = 0;
  while (!trial.out_of_time(now_s) && now_s < 10.0 * study.limits.wall_s) {
    now_s += steps_s * (step % 7 == 0 ? 1.6 : 0.9);
    trial.reported(report(++step, now_s));
  }
  EXPECT_LT(now_s, study.limits.wall_s) << "before the runner's wall limit";
  Outcome outcome;
  outcome.kind = OutcomeKind::stopped;
  return trial.finished(outcome, nullptr, 0.0);
}

TEST(RunningTrial, TheWallLimitLeavesAWideIntervalWithTheReason) {
  StudySpec study = time_study();
  study.measure.target_half_width = 1e-4;
  study.limits.wall_s = 20.0;
  const TrialRecord ended = run_until_out_of_time(study, 0.1);
  EXPECT_EQ(ended.status, TrialStatus::completed);
  ASSERT_EQ(ended.objectives.size(), 1U);
  EXPECT_GT(ended.standard_errors[0], 1e-3 * ended.objectives[0]);
  EXPECT_THAT(ended.measurement->remark, ::testing::HasSubstr("limits.wall"));
}

/// Runs a trial that slows down all the time and whose program then ends without a failure.
/// `before`: steps of the checkpoint from which it continues.
TrialRecord ended_by_itself(int steps, const TrialRecord* baseline = nullptr, int before = 0) {
  const StudySpec study = time_study();
  TrialRecord record;
  record.number = 1;
  record.purpose = baseline == nullptr ? TrialPurpose::baseline : TrialPurpose::search;
  RunningTrial trial(study, record, 0.0, {study.measure});
  trial.started({{1, 1}, 0.0, "", {}});
  double now_s = 1.0;
  for (int step = 1; step <= steps; ++step)
    trial.reported(report(before + step, now_s += 0.1 + 0.01 * step));
  return trial.finished(Outcome{}, baseline, 0.0);
}

TEST(RunningTrial, AnUnsteadyProgramThatEndsHasAWideInterval) {
  const TrialRecord ended = ended_by_itself(60);
  EXPECT_EQ(ended.status, TrialStatus::completed) << ended.failure;
  ASSERT_TRUE(ended.measurement);
  EXPECT_NE(ended.measurement->status, MeasurementStatus::steady);
  const double mean_s = 0.1 + 0.01 * 61 / 2;
  EXPECT_LE(ended.measurement->seconds_per_sample - ended.measurement->half_width_s, mean_s);
  EXPECT_GE(ended.measurement->seconds_per_sample + ended.measurement->half_width_s, mean_s);
  ASSERT_EQ(ended.standard_errors.size(), 1U);
  EXPECT_GT(ended.standard_errors[0], 0.05 * ended.objectives[0]);
}

TEST(RunningTrial, AProgramOfFewStepsIsAWholeRun) {
  const TrialRecord ended = ended_by_itself(10);
  EXPECT_EQ(ended.status, TrialStatus::completed) << ended.failure;
  ASSERT_TRUE(ended.measurement);
  EXPECT_TRUE(ended.measurement->whole_run);
  EXPECT_EQ(ended.measurement->total_samples, 10.0);
  ASSERT_EQ(ended.standard_errors.size(), 1U);
  EXPECT_GT(ended.standard_errors[0], 0.05 * ended.objectives[0]);
}

TEST(RunningTrial, AProgramMuchShorterThanTheBaselineFails) {
  const TrialRecord baseline = ended_by_itself(60);
  EXPECT_EQ(ended_by_itself(40, &baseline).status, TrialStatus::completed);
  EXPECT_EQ(ended_by_itself(12, &baseline).status, TrialStatus::failed);
}

TEST(RunningTrial, AResumedProgramIsComparedByItsOwnSteps) {
  const TrialRecord baseline = ended_by_itself(60, nullptr, 1000);
  EXPECT_EQ(baseline.measurement->total_samples, 60.0);
  EXPECT_EQ(ended_by_itself(40, &baseline, 1000).status, TrialStatus::completed);
  EXPECT_EQ(ended_by_itself(12, &baseline, 1000).status, TrialStatus::failed);
  // If the baseline was measured before its end, its total is the program's own count.
  TrialRecord stopped = completed(1, 0.2);
  stopped.measurement = steady(0.2);
  stopped.measurement->window_s = 12.0;
  stopped.measurement->window_steps = stopped.measurement->window_samples = 60.0;
  stopped.measurement->total_samples = 1060.0;
  EXPECT_EQ(ended_by_itself(40, &stopped, 1000).status, TrialStatus::completed);
  EXPECT_EQ(ended_by_itself(12, &stopped, 1000).status, TrialStatus::failed);
}

TEST(RunningTrial, ASteadyProgramMuchShorterIsNoWholeRun) {
  const StudySpec study = time_study();
  const TrialRecord baseline = ended_by_itself(200);
  TrialRecord record;
  record.number = 2;
  record.purpose = TrialPurpose::search;
  for (const auto& [steps, whole] : {std::pair{150, true}, std::pair{60, false}}) {
    RunningTrial trial(study, record, 0.0, {study.measure});
    trial.started({{2, 1}, 0.0, "", {}});
    for (int step = 1; step <= steps; ++step)
      trial.reported(report(step, 1.0 + 0.1 * step + 0.001 * (step % 3)));
    const TrialRecord ended = trial.finished(Outcome{}, &baseline, 0.0);
    EXPECT_EQ(ended.status, TrialStatus::completed) << ended.failure;
    ASSERT_EQ(ended.measurement->status, MeasurementStatus::steady);
    EXPECT_EQ(ended.measurement->whole_run, whole) << steps;
  }
}

/// Steps of 5 ms with 5 % noise. The last 150 take a tenth longer, but the trial's last evaluation
/// of its measurement has seen too few of them.
TEST(RunningTrial, AWholeRunKeepsTheEndsOfItsWindow) {
  const StudySpec study = time_study();
  TrialRecord record;
  record.number = 1;
  record.purpose = TrialPurpose::baseline;
  RunningTrial trial(study, record, 0.0, {study.measure});
  trial.started({{1, 1}, 0.0, "", {}});
  Rng rng(3, "whole run");
  double now_s = 1.0;
  constexpr int k_steps = 1880;  // the last evaluation is at step 1711
  for (int step = 1; step <= k_steps; ++step) {
    now_s += 0.005 * (step > k_steps - 150 ? 1.1 : 1.0) * (1.0 + 0.05 * rng.normal());
    trial.reported(report(step, now_s));
  }
  const double first_window_s = trial.measurement().window_begin_s();
  const TrialRecord ended = trial.finished(Outcome{}, nullptr, 0.0);
  ASSERT_TRUE(ended.measurement && ended.measurement->whole_run);
  const double begin_s = ended.measurement->window_begin_s();
  ASSERT_GT(begin_s, first_window_s + 5.0) << "the level changed after the last evaluation";
  const auto& points = trial.trace(ended.measurement).progress.points;
  ASSERT_LE(points.size(), k_most_trace_points);
  const auto nearest = std::ranges::min_element(
      points, {}, [&](const TracePoint& point) { return std::abs(point.at_s - begin_s); });
  EXPECT_LT(std::abs(nearest->at_s - begin_s), 0.006) << "within a step";
}

TEST(RunningTrial, FourStepsAreNoMeasurement) {
  const TrialRecord ended = ended_by_itself(4);
  EXPECT_EQ(ended.status, TrialStatus::failed);
  EXPECT_THAT(ended.failure, ::testing::HasSubstr("ended before it could be measured"));
}

/// Reports twenty steps in 2 s, then nothing, or the start of a phase.
TEST(RunningTrial, SilenceInMidTrainingHangsInATimeBudget) {
  StudySpec study = time_study();
  study.budget.time_s = 100.0;
  TrialTargets targets{study.measure};
  targets.longest_trial_s = 10.0;
  targets.longest_start_s = 12.0;
  targets.budget_end_s = 1000.0;
  TrialRecord record;
  record.number = 2;
  for (const bool in_phase : {false, true}) {
    RunningTrial trial(study, record, 0.0, targets);
    trial.started({{2, 1}, 0.0, "", {}});
    for (int step = 1; step <= 20; ++step)
      trial.reported(report(step, 1.0 + 0.1 * step + 0.01 * (step % 7)));
    const double last_s = 3.06;  // 1 + 20 * 0.1 + 0.01 * (20 % 7)
    if (in_phase) {
      Report begins;
      begins.received_s = last_s;
      begins.phase = PhaseReport{"evaluation", std::nullopt};
      trial.reported(begins);
      Report other = report(20, last_s);
      other.global_rank = 1;
      trial.reported(other);
      EXPECT_FALSE(trial.out_of_time(last_s + 24.1)) << "an evaluation may take long";
      continue;
    }
    EXPECT_FALSE(trial.out_of_time(last_s + 23.9));
    EXPECT_TRUE(trial.out_of_time(last_s + 24.1));
    Outcome outcome;
    outcome.kind = OutcomeKind::stopped;
    const TrialRecord ended = trial.finished(outcome, nullptr, 0.0);
    EXPECT_EQ(ended.status, TrialStatus::failed);
    EXPECT_EQ(ended.failure,
              "hung: no step reported for 24.1 s, longer than any other trial took as a whole");
  }
}

TEST(RunningTrial, LaterRefusedLinesFailTheTrial) {
  const StudySpec study = time_study();
  TrialRecord record;
  record.number = 1;
  record.purpose = TrialPurpose::baseline;
  for (const bool refused : {true, false}) {
    RunningTrial trial(study, record, 0.0, {study.measure});
    trial.started({{1, 1}, 0.0, "", {}});
    for (int step = 1; step <= 60; ++step)
      trial.reported(report(step, 1.0 + 0.1 * step));
    Report metrics;
    metrics.received_s = 100.0;
    metrics.metrics["loss"] = 0.5;
    trial.reported(metrics);
    ASSERT_TRUE(trial.out_of_time(500.0));
    Outcome outcome;
    outcome.kind = OutcomeKind::stopped;
    if (refused) outcome.detail = "several programs print \"step\"";
    const TrialRecord ended = trial.finished(outcome, nullptr, 0.0);
    EXPECT_EQ(ended.status, refused ? TrialStatus::failed : TrialStatus::completed);
    EXPECT_EQ(ended.failure, refused ? "no step was recognised for 8 min 13 s: several programs "
                                       "print \"step\""
                                     : "");
  }
}

TEST(RunningTrial, LongSilenceMayMeanSlowSteps) {
  const StudySpec study = time_study();
  TrialTargets targets{study.measure};
  targets.share_of_budget_s = 5.0;
  TrialRecord record;
  record.number = 1;
  record.purpose = TrialPurpose::confirm_incumbent;
  for (const double over_s : {7.5, 500.0}) {
    RunningTrial trial(study, record, 0.0, targets);
    trial.started({{1, 1}, 0.0, "", {}});
    for (int step = 1; step <= 60; ++step)
      trial.reported(report(step, 1.0 + 0.1 * step + 0.001 * (step % 3)));
    ASSERT_TRUE(trial.out_of_time(over_s));
    Outcome outcome;
    outcome.kind = OutcomeKind::stopped;
    const TrialRecord ended = trial.finished(outcome, nullptr, 0.0);
    ASSERT_EQ(ended.status, TrialStatus::completed) << ended.failure;
    EXPECT_NEAR(ended.measurement->seconds_per_sample, 0.1, 0.001);
    if (over_s < 10.0) {
      EXPECT_LT(ended.measurement->slowest_seconds_per_sample, 0.2);
      EXPECT_EQ(ended.measurement->remark, "");
      EXPECT_EQ(ended.measurement->silent_s, 0.0);
    } else {
      EXPECT_DOUBLE_EQ(ended.measurement->silent_s, 493.0);
      EXPECT_GT(ended.measurement->slowest_seconds_per_sample, 8.0);
      EXPECT_EQ(
          ended.measurement->remark,
          "no step was reported in its last 8 min 13 s: it hangs, or does work that it does not "
          "report");
    }
  }
}

TEST(RunningTrial, ALongEvaluationAtTheEndKeepsTheMeasurement) {
  const StudySpec study = time_study();
  TrialRecord record;
  record.number = 1;
  record.purpose = TrialPurpose::baseline;
  RunningTrial trial(study, record, 0.0, {study.measure});
  trial.started({{1, 1}, 0.0, "", {}});
  for (int step = 1; step <= 60; ++step)
    trial.reported(report(step, 1.0 + 0.1 * step));
  Report begins;
  begins.received_s = 7.1;
  begins.phase = PhaseReport{"evaluation", std::nullopt};
  trial.reported(begins);
  ASSERT_TRUE(trial.out_of_time(500.0));
  Outcome outcome;
  outcome.kind = OutcomeKind::stopped;
  outcome.detail = "faults in reports: 1";
  EXPECT_EQ(trial.finished(outcome, nullptr, 0.0).status, TrialStatus::completed);
}

TEST(RunningTrial, TheTimeLimitBeforeTheSilenceLimitKeepsTheMeasurement) {
  StudySpec study = time_study();
  study.measure.max_trial_s = 10.0;
  study.budget.time_s = 1000.0;
  TrialTargets targets{study.measure};
  targets.longest_trial_s = 12.0;
  targets.longest_start_s = 12.0;
  targets.budget_end_s = 1e4;
  TrialRecord record;
  record.number = 2;
  RunningTrial trial(study, record, 0.0, targets);
  trial.started({{2, 1}, 0.0, "", {}});
  for (int step = 1; step <= 20; ++step)
    trial.reported(report(step, 1.0 + 0.1 * step + 0.01 * (step % 7)));
  EXPECT_TRUE(trial.out_of_time(600.0)) << "the tuner read no reports for that time";
  Outcome outcome;
  outcome.kind = OutcomeKind::stopped;
  EXPECT_NE(trial.finished(outcome, nullptr, 0.0).status, TrialStatus::failed);
}

/// Returns the deadline of a trial that slows down all the time.
double deadline_of_a_drifting_trial(TrialPurpose purpose, double time_s) {
  StudySpec study = time_study();
  study.measure.max_trial_s = 120.0;
  study.budget.time_s = time_s;
  TrialTargets targets{study.measure};
  targets.share_of_budget_s = purpose == TrialPurpose::baseline ? 20.0 : 10.0;
  TrialRecord record;
  record.number = 2;
  record.purpose = purpose;
  RunningTrial trial(study, record, 0.0, targets);
  trial.started({{2, 1}, 0.0, "", {}});
  double now_s = 0.0;
  for (int step = 1; step <= 60; ++step)
    trial.reported(report(step, now_s += 0.1 + 0.01 * step));
  EXPECT_EQ(trial.measurement().status, MeasurementStatus::not_steady);
  return trial.deadline_s() - trial.measurement().startup_s;
}

TEST(RunningTrial, AnUnsteadyTrialKeepsItsShareOfTheTime) {
  EXPECT_DOUBLE_EQ(deadline_of_a_drifting_trial(TrialPurpose::search, 200.0), 10.0);
  EXPECT_DOUBLE_EQ(deadline_of_a_drifting_trial(TrialPurpose::baseline, 200.0), 40.0);
  EXPECT_DOUBLE_EQ(deadline_of_a_drifting_trial(TrialPurpose::baseline, 60.0), 30.0)
      << "half of the time is left for other trials";
  EXPECT_DOUBLE_EQ(deadline_of_a_drifting_trial(TrialPurpose::confirm_incumbent, 200.0), 120.0);
}

TEST(RunningTrial, FewSlowStepsAtTheWallLimitAreNoFailure) {
  StudySpec study = time_study();
  study.limits.wall_s = 20.0;
  const TrialRecord ended = run_until_out_of_time(study, 2.6);
  EXPECT_EQ(ended.status, TrialStatus::stopped_early) << ended.failure;
  EXPECT_THAT(ended.failure, ::testing::HasSubstr("samples in all): too few reports"));
}

/// Returns a trial in a shared program that took 100 s to start.
RunningTrial shared_trial(const StudySpec& study, TrialPurpose purpose) {
  TrialRecord record;
  record.number = 2;
  record.purpose = purpose;
  RunningTrial trial(study, record, 0.0, {study.measure});
  trial.started({{2, 1}, 500.0, "", {{"shared_program", "live-1.log"}}, 100.0});
  return trial;
}

TEST(RunningTrial, ALiveTrialPaysOnlyItsOwnTurns) {
  StudySpec study = time_study();
  study.measure.max_trial_s = 10.0;
  for (const TrialPurpose purpose : {TrialPurpose::search, TrialPurpose::confirm_incumbent}) {
    RunningTrial trial = shared_trial(study, purpose);
    // Reports have the trial's own time: half of the passed time if the baseline takes turns.
    for (int step = 1; step <= 40; ++step)
      trial.reported(report(step, 500.0 + 0.1 * step));
    const double turns = purpose == TrialPurpose::search ? 2.0 : 1.0;
    EXPECT_NEAR(trial.deadline_s(), 500.0 + turns * 10.0, 1e-6);
    EXPECT_NEAR(trial.measurement().startup_s, 100.0, 1e-6) << "a long run includes it";
    EXPECT_LT(trial.measurement().slowest_seconds_per_sample, 0.11) << "no stall was hidden";
  }
}

TEST(RunningTrial, ALiveTrialIgnoresGuardsOfASharedLoss) {
  StudySpec study = guarded_study();
  RunningTrial trial = shared_trial(study, TrialPurpose::search);
  StopsAt scheduler(1e9);
  NoSearcher searcher;
  Report next_report = report(16, 502.0);
  next_report.compared = ComparedRate{0.1, 0.001};
  trial.reported(next_report);
  EXPECT_TRUE(trial.wants_to_end(scheduler, searcher, nullptr)) << "the trial waits for no samples";
  Outcome outcome;
  outcome.kind = OutcomeKind::stopped;
  EXPECT_EQ(trial.finished(outcome, nullptr, 0.0).status, TrialStatus::completed);
}

TEST(RunningTrial, ALiveTrialEndsOnceItsDifferenceIsClear) {
  StudySpec study = time_study();
  RunningTrial trial = shared_trial(study, TrialPurpose::search);
  StopsAt scheduler(1e9);
  NoSearcher searcher;
  Report next_report = report(8, 501.0);
  next_report.compared = ComparedRate{0.1, 0.001};
  trial.reported(next_report);
  EXPECT_FALSE(trial.wants_to_end(scheduler, searcher, nullptr)) << "8 steps of both are too few";
  next_report.step = 16;
  next_report.received_s = 502.0;
  trial.reported(next_report);
  EXPECT_TRUE(trial.wants_to_end(scheduler, searcher, nullptr));
}

TEST(RunningTrial, AFarSlowerLiveTrialEndsAfterOneBlock) {
  StudySpec study = time_study();
  TrialRecord record;
  record.number = 2;
  TrialTargets targets{study.measure};
  targets.to_beat = 1200.0;  // seconds of the planned run
  RunningTrial trial(study, record, 0.0, targets);
  trial.started({{2, 1}, 500.0, "", {{"shared_program", "live-1.log"}}, 100.0});
  StopsAt scheduler(1e9);
  NoSearcher searcher;
  Report next_report = report(2, 502.0);
  next_report.compared = ComparedRate{3.0, 1.2};
  trial.reported(next_report);
  EXPECT_TRUE(trial.wants_to_end(scheduler, searcher, nullptr));
}

TEST(RunningTrial, ALiveTrialEndsOnceItsIntervalIsAboveTheBest) {
  StudySpec study = time_study();
  TrialRecord record;
  record.number = 2;
  TrialTargets targets{study.measure};
  targets.to_beat = 1200.0;  // seconds of the planned run
  StopsAt scheduler(1e9);
  NoSearcher searcher;
  for (const auto& [seconds_per_sample, ends] : {std::pair{1.2, false}, std::pair{1.3, true}}) {
    RunningTrial trial(study, record, 0.0, targets);
    trial.started({{2, 1}, 500.0, "", {{"shared_program", "live-1.log"}}, 100.0});
    Report next_report = report(8, 508.0);
    next_report.compared = ComparedRate{seconds_per_sample, 0.15};
    trial.reported(next_report);
    EXPECT_EQ(trial.wants_to_end(scheduler, searcher, nullptr), ends) << seconds_per_sample;
  }
}

TEST(RunningTrial, ALiveTrialIsCutByItsOwnTime) {
  StudySpec study = time_study();
  study.measure.max_trial_s = 10.0;
  RunningTrial trial = shared_trial(study, TrialPurpose::search);
  for (int step = 1; step <= 3; ++step)
    trial.reported(report(step, 500.0 + 2.0 * step));
  ASSERT_TRUE(trial.out_of_time(520.0));
  Outcome outcome;
  outcome.kind = OutcomeKind::stopped;
  const TrialRecord ended = trial.finished(outcome, nullptr, 0.0);
  ASSERT_TRUE(ended.measurement);
  // Less than the 20 s that have passed.
  const Measurement& measured = *ended.measurement;
  EXPECT_LT(measured.seconds_per_sample + measured.half_width_s, 4.0) << ended.failure;
}

RunningTrial begun(const StudySpec& study, TrialPurpose purpose = TrialPurpose::search,
                   int lost = 0) {
  TrialRecord record;
  record.number = 2;
  record.purpose = purpose;
  record.lost = lost;
  record.configuration = study.baseline;
  RunningTrial trial(study, record, 0.0, {study.measure});
  trial.started({{2, 1}, 100.0, "token", {{"cpus", "0-3"}}});
  return trial;
}

/// Reports steps of 0.1 s from the trial's start on.
void train(RunningTrial& trial, int steps) {
  for (int step = 1; step <= steps; ++step)
    trial.reported(report(step, 101.0 + 0.1 * step + 0.001 * (step % 3)));
}

TEST(RunningTrial, RecordsTheRunnersOutcome) {
  const StudySpec study = time_study();
  RunningTrial trial = begun(study);
  train(trial, 60);
  Outcome outcome;
  outcome.billed_s = 30.0;
  outcome.peak_memory_bytes = 5e9;
  outcome.peak_unreclaimable_bytes = 4e9;
  outcome.cpu_busy = 0.75;
  outcome.storage_read_bytes = 1e6;
  outcome.gpu.emplace();
  outcome.gpu->peak_memory_share = 0.5;
  outcome.disturbance.emplace();
  const TrialRecord ended = trial.finished(outcome, nullptr, 1234.0);
  EXPECT_EQ(ended.token, "token");
  EXPECT_EQ(ended.placement.at("cpus"), "0-3");
  EXPECT_DOUBLE_EQ(ended.ended_wall_s, 1234.0);
  EXPECT_DOUBLE_EQ(ended.spent_s, 30.0);
  EXPECT_NEAR(ended.spent_usd, 0.03, 1e-12) << "at 3.6 USD an hour";
  EXPECT_EQ(ended.peak_memory_bytes, 5e9);
  EXPECT_EQ(ended.peak_unreclaimable_bytes, 4e9);
  EXPECT_EQ(ended.cpu_busy, 0.75);
  EXPECT_EQ(ended.storage_read_bytes, 1e6);
  ASSERT_TRUE(ended.gpu);
  EXPECT_EQ(ended.gpu->peak_memory_share, 0.5);
  EXPECT_TRUE(ended.disturbance);
}

TEST(RunningTrial, MachineFiguresExplainAChangedLevel) {
  const StudySpec study = time_study();
  RunningTrial trial = begun(study);
  double now_s = 101.0;
  for (int step = 1; step <= 400; ++step) {
    now_s += (step <= 150 ? 0.1 : 0.15) + 0.001 * (step % 3);
    trial.reported(report(step, now_s));
  }
  Outcome outcome;
  // Counted from its start at 100; the level changes after 16 s.
  for (int second = 0; second < 50; ++second)
    outcome.machine.push_back({.from_s = 1.0 * second,
                               .to_s = second + 1.0,
                               .steal = 0.0,
                               .cpu_clock_hz = second < 16 ? 3e9 : 2e9});
  outcome.machine[40].cpu_clock_hz = 1.9e9;
  const TrialRecord ended = trial.finished(outcome, nullptr, 1234.0);
  ASSERT_TRUE(ended.cpu_clock);
  EXPECT_NEAR(ended.cpu_clock->mean_hz, 2e9, 1e8) << "since the change";
  EXPECT_EQ(ended.cpu_clock->lowest_hz, 1.9e9);
  ASSERT_FALSE(ended.measurement->level_changes.empty());
  const LevelChange& change = ended.measurement->level_changes.back();
  EXPECT_NEAR(change.ratio, 1.5, 0.05);
  ASSERT_TRUE(change.machine);
  EXPECT_EQ(change.machine->figure, "cpu_clock_hz");
  EXPECT_NEAR(change.machine->before, 3e9, 1e8);
  EXPECT_NEAR(change.machine->after, 2e9, 1e8);
  const TrialTrace trace = trial.trace(ended.measurement);
  ASSERT_EQ(trace.machine.size(), 50U);
  EXPECT_EQ(trace.machine[40].cpu_clock_hz, 1.9e9);
}

TEST(RunningTrial, RecordsThatClocksWereNotReported) {
  const StudySpec study = time_study();
  RunningTrial trial = begun(study);
  train(trial, 60);
  const TrialRecord ended = trial.finished(Outcome{}, nullptr, 0.0);
  EXPECT_FALSE(ended.cpu_clock);
  EXPECT_TRUE(trial.trace(ended.measurement).machine.empty());
}

TEST(RunningTrial, SpendsTheChargesOfAllAttempts) {
  const StudySpec study = time_study();
  TrialRecord record;
  record.number = 2;
  record.attempt = 2;
  record.spent_s = 10.0;
  record.spent_usd = 0.5;
  RunningTrial trial(study, record, 0.0, {study.measure});
  trial.started({{2, 2}, 100.0, "", {}});
  train(trial, 60);
  Outcome outcome;
  outcome.billed_s = 30.0;
  outcome.billed_usd = 2.0;
  const TrialRecord ended = trial.finished(outcome, nullptr, 0.0);
  EXPECT_DOUBLE_EQ(ended.spent_s, 40.0);
  EXPECT_DOUBLE_EQ(ended.spent_usd, 2.5);
}

TEST(RunningTrial, SimultaneousDisturbancesCountOnce) {
  const StudySpec study = time_study();
  RunningTrial trial = begun(study);
  trial.disturbed({{2, 1}, 110.0, 112.0, {}});
  trial.disturbed({{2, 1}, 111.0, 113.0, {}});
  trial.disturbed({{2, 1}, 111.0, 112.0, {}});
  trial.disturbed({{2, 1}, 120.0, 121.0, {}});
  EXPECT_DOUBLE_EQ(trial.record().disturbed_s, 4.0);
  const TrialTrace trace = trial.trace({});
  ASSERT_EQ(trace.disturbed.size(), 4U);
  EXPECT_DOUBLE_EQ(trace.disturbed[0].from_s, 10.0) << "from its start";
  EXPECT_DOUBLE_EQ(trace.disturbed[3].to_s, 21.0);
}

TEST(RunningTrial, KeepsTheLatestOfVeryManyDisturbances) {
  const StudySpec study = time_study();
  RunningTrial trial = begun(study);
  for (int i = 0; i < 300; ++i)
    trial.disturbed({{2, 1}, 100.0 + i, 100.5 + i, {}});
  const auto kept = trial.trace({}).disturbed;
  ASSERT_EQ(kept.size(), 200U);
  EXPECT_DOUBLE_EQ(kept.back().from_s, 299.0);
}

TEST(RunningTrial, MayBeInterruptedOnce) {
  const StudySpec study = time_study();
  RunningTrial trial = begun(study);
  train(trial, 60);
  EXPECT_TRUE(trial.interrupt(EndRequest::user));
  EXPECT_FALSE(trial.interrupt(EndRequest::user));
  EXPECT_TRUE(std::isinf(trial.deadline_s())) << "the trial's end was requested";
  EXPECT_FALSE(trial.out_of_time(1e9));
  StopsAt scheduler(1);
  NoSearcher searcher;
  EXPECT_FALSE(trial.wants_to_end(scheduler, searcher, nullptr))
      << "an end is requested at most once";
  Outcome outcome;
  outcome.kind = OutcomeKind::stopped;
  EXPECT_EQ(trial.finished(outcome, nullptr, 0.0).status, TrialStatus::interrupted);
}

TEST(RunningTrial, LostAThirdTimeHasFailed) {
  const StudySpec study = time_study();
  for (const int lost : {0, 1, 2}) {
    RunningTrial trial = begun(study, TrialPurpose::search, lost);
    Outcome outcome;
    outcome.kind = OutcomeKind::lost;
    EXPECT_EQ(trial.finished(outcome, nullptr, 0.0).status,
              lost < 2 ? TrialStatus::interrupted : TrialStatus::failed)
        << lost;
  }
  RunningTrial trial = begun(study, TrialPurpose::search, 2);
  ASSERT_TRUE(trial.interrupt(EndRequest::user));
  Outcome outcome;
  outcome.kind = OutcomeKind::stopped;
  EXPECT_EQ(trial.finished(outcome, nullptr, 0.0).status, TrialStatus::interrupted)
      << "a user who interrupts the tuner loses no trial";
}

TEST(RunningTrial, HasNoDeadlineBeforeItStarted) {
  const StudySpec study = time_study();
  TrialRecord record;
  record.number = 2;
  RunningTrial trial(study, record, 0.0, {study.measure});
  EXPECT_TRUE(std::isinf(trial.deadline_s())) << "the trial waits for machines";
  EXPECT_FALSE(trial.out_of_time(1e9));
}

TEST(RunningTrial, ATrialWithoutReportsHasTheIdleLimitToo) {
  StudySpec study = time_study();
  study.limits.idle_s = 50.0;
  study.limits.wall_s = 1000.0;
  study.measure.max_trial_s = 20.0;
  RunningTrial trial = begun(study);
  EXPECT_FALSE(trial.has_reported_progress());
  EXPECT_DOUBLE_EQ(trial.deadline_s(), 170.0);
  EXPECT_FALSE(trial.out_of_time(169.0));
  EXPECT_TRUE(trial.out_of_time(170.0));
}

TEST(RunningTrial, TimeCountsFromTheFirstStepWithinTheWallLimit) {
  StudySpec study = time_study();
  study.limits.wall_s = 1000.0;
  study.measure.max_trial_s = 20.0;
  RunningTrial trial = begun(study);
  train(trial, 30);
  EXPECT_TRUE(trial.has_reported_progress());
  EXPECT_NEAR(trial.deadline_s(), 100.0 + trial.measurement().startup_s + 20.0, 1e-9);
  study.limits.wall_s = 10.0;
  EXPECT_NEAR(trial.deadline_s(), 109.5, 1e-9);
}

TEST(RunningTrial, ASteadyTrialHasItsShareOfTheTimeBudget) {
  StudySpec study = time_study();
  study.limits.wall_s = 1000.0;
  study.measure.max_trial_s = 60.0;
  study.measure.target_half_width = 1e-9;
  TrialRecord record;
  record.number = 2;
  TrialTargets targets{study.measure};
  targets.share_of_budget_s = 5.0;
  RunningTrial trial(study, record, 0.0, targets);
  trial.started({{2, 1}, 100.0, "", {}});
  train(trial, 5);
  EXPECT_GT(trial.deadline_s(), 150.0) << "nothing is known yet";
  train(trial, 100);
  ASSERT_EQ(trial.measurement().status, MeasurementStatus::steady);
  EXPECT_NEAR(trial.deadline_s(), 100.0 + trial.measurement().startup_s + 5.0, 1e-9);
}

TEST(RunningTrial, ATooLateFirstStepIsInfeasible) {
  StudySpec study = time_study();
  study.budget.time_s = 200.0;
  TrialRecord record;
  record.number = 2;
  TrialTargets targets{study.measure};
  targets.longest_start_s = 23.0;
  const auto started = [&] {
    RunningTrial trial(study, record, 0.0, targets);
    trial.started({{2, 1}, 100.0, "", {}});
    return trial;
  };
  RunningTrial slow = started();
  EXPECT_DOUBLE_EQ(slow.deadline_s(), 123.0);
  EXPECT_FALSE(slow.out_of_time(122.9));
  EXPECT_TRUE(slow.out_of_time(123.0));
  Outcome outcome;
  outcome.kind = OutcomeKind::stopped;
  const TrialRecord ended = slow.finished(outcome, nullptr, 0.0);
  EXPECT_EQ(ended.status, TrialStatus::infeasible);
  EXPECT_EQ(
      ended.failure,
      "no step reported within 23.0 s: longer than a start-up may take with a tuning time of 3 "
      "min 20 s");
  EXPECT_EQ(ended.awaited_start_s, 23.0);
  RunningTrial quick = started();
  train(quick, 3);
  EXPECT_GT(quick.deadline_s(), 123.0) << "it has begun";
  RunningTrial seldom_tells = started();
  seldom_tells.reported(report(100, 110.0));
  EXPECT_GT(seldom_tells.deadline_s(), 123.0)
      << "one report gives no rate but shows that training has begun";
}

TEST(RunningTrial, AJudgedBaselineMayStartUntilTheEndOfTheBudget) {
  StudySpec study = time_study();
  study.budget.time_s = 200.0;
  study.measure.confirm_all = true;
  TrialRecord record;
  record.number = 1;
  record.purpose = TrialPurpose::baseline;
  TrialTargets targets{study.measure};
  targets.budget_end_s = 170.0;
  RunningTrial trial(study, record, 0.0, targets);
  trial.started({{1, 1}, 100.0, "", {}});
  EXPECT_FALSE(trial.out_of_time(169.0));
  EXPECT_TRUE(trial.out_of_time(170.0));
  Outcome outcome;
  outcome.kind = OutcomeKind::stopped;
  const TrialRecord ended = trial.finished(outcome, nullptr, 0.0);
  EXPECT_EQ(ended.status, TrialStatus::infeasible);
  EXPECT_EQ(ended.awaited_start_s, 70.0);
}

TEST(RunningTrial, AMissingStepMayBeAHang) {
  StudySpec study = time_study();
  study.budget.time_s = 200.0;
  TrialRecord record;
  record.number = 2;
  TrialTargets targets{study.measure};
  targets.longest_start_s = 23.0;
  const auto failure = [&](double longest_trial_s) {
    targets.longest_trial_s = longest_trial_s;
    RunningTrial trial(study, record, 0.0, targets);
    trial.started({{2, 1}, 100.0, "", {}});
    EXPECT_TRUE(trial.out_of_time(123.0));
    Outcome outcome;
    outcome.kind = OutcomeKind::stopped;
    return trial.finished(outcome, nullptr, 0.0).failure;
  };
  EXPECT_EQ(
      failure(22.0),
      "no step reported within 23.0 s, longer than any other trial took as a whole: it hangs, or "
      "starts slowly (longer than a start-up may take with a tuning time of 3 min 20 s)");
  EXPECT_THAT(failure(24.0), ::testing::StartsWith("no step reported within 23.0 s: "));
}

TEST(RunningTrial, TheBaselineWaitsForTheSamplesOfItsGuards) {
  StudySpec study = time_study();
  study.limits.wall_s = 1000.0;
  study.measure.max_trial_s = 20.0;
  Guard guard;
  guard.metric = "loss";
  guard.after_samples = 1e6;
  guard.max_ratio_to_baseline = 1.02;
  study.guards = {guard};
  for (const TrialPurpose purpose : {TrialPurpose::baseline, TrialPurpose::search}) {
    RunningTrial trial = begun(study, purpose);
    train(trial, 30);
    if (purpose == TrialPurpose::baseline) {
      EXPECT_DOUBLE_EQ(trial.deadline_s(), 100.0 + 950.0)
          << "other trials are compared with the baseline";
    } else {
      EXPECT_LT(trial.deadline_s(), 125.0);
    }
  }
}

TEST(RunningTrial, AViolatedGuardEndsTheTrial) {
  StudySpec study = time_study();
  Guard guard;
  guard.metric = "loss";
  guard.after_samples = 10;
  guard.max = 2.0;
  study.guards = {guard};
  StopsAt scheduler(1e9);
  NoSearcher searcher;
  const auto run = [&](TrialPurpose purpose) {
    RunningTrial trial = begun(study, purpose);
    bool ended = false;
    for (int step = 1; step <= 20 && !ended; ++step) {
      Report next_report = report(step, 101.0 + 0.1 * step);
      next_report.metrics["loss"] = 3.0;
      trial.reported(next_report);
      ended = trial.wants_to_end(scheduler, searcher, nullptr);
    }
    EXPECT_EQ(ended, purpose == TrialPurpose::search) << to_text(purpose);
    Outcome outcome;
    outcome.kind = OutcomeKind::stopped;
    return trial.finished(outcome, nullptr, 0.0);
  };
  const TrialRecord ended = run(TrialPurpose::search);
  EXPECT_EQ(ended.status, TrialStatus::infeasible);
  EXPECT_EQ(ended.failure, "loss@10 is 3, above the limit of 2");
  run(TrialPurpose::confirm_incumbent);
}

TEST(RunningTrial, RecordsWhatItsGuardsJudged) {
  StudySpec study = time_study();
  Guard guard;
  guard.metric = "loss";
  guard.after_samples = 10;
  guard.max = 9.0;
  study.guards = {guard};
  RunningTrial trial = begun(study);
  for (int step = 1; step <= 60; ++step) {
    Report next_report = report(step, 101.0 + 0.1 * step);
    next_report.metrics["loss"] = step % 2 == 0 ? 3.0 : 3.1;
    trial.reported(next_report);
  }
  const TrialRecord ended = trial.finished({}, nullptr, 0.0);
  EXPECT_NEAR(ended.measurement->metrics.at("loss@10"), 3.04, 0.02);
  EXPECT_EQ(ended.measurement->metrics.size(), 2U) << "a standard error is no metric";
  EXPECT_GT(ended.measurement->metric_errors.at("loss@10"), 0.0);
}

/// Returns the steps until a study's first trial is measured, if its share of the time budget is
/// `share_s`.
int steps_of_baseline(double step_s, double share_s) {
  const StudySpec study = time_study();
  TrialRecord record;
  record.number = 1;
  record.purpose = TrialPurpose::baseline;
  TrialTargets targets{study.measure};
  targets.share_of_budget_s = share_s;
  measure_longer(targets);
  RunningTrial trial(study, record, 0.0, targets);
  trial.started({{1, 1}, 0.0, "", {}});
  return report_until_end(trial, 1e9, step_s).steps;
}

TEST(RunningTrial, TheBaselineIsMeasuredForLonger) {
  const MeasureSpec measure = time_study().measure;
  ASSERT_EQ(measure.min_window_steps, 30);
  ASSERT_EQ(measure.min_window_s, 1.0);
  constexpr double k_any = std::numeric_limits<double>::infinity();
  const int of_fast_steps = steps_of_baseline(0.01, k_any);
  EXPECT_GE(of_fast_steps, 210);
  EXPECT_LE(of_fast_steps, 240);
  const int of_slower_steps = steps_of_baseline(0.1, k_any);
  EXPECT_GE(of_slower_steps, 98) << "ten seconds";
  EXPECT_LE(of_slower_steps, 115);
  const int in_short_budget = steps_of_baseline(0.1, 10.0);
  EXPECT_GE(in_short_budget, 48) << "half of the trial's share";
  EXPECT_LE(in_short_budget, 60);
}

TEST(RunningTrial, WhileItIsPausedForAnotherTrialItsLimitsWait) {
  const StudySpec study = time_study();
  TrialRecord record;
  record.number = 2;
  TrialTargets targets{study.measure};
  targets.measure.max_trial_s = 10.0;
  RunningTrial trial(study, record, 0.0, targets);
  trial.started({{2, 1}, 0.0, "", {}});
  for (int step = 1; step <= 3; ++step)
    trial.reported(report(step, 1.0 + 0.1 * step));
  const double limit_s = trial.deadline_s();
  ASSERT_TRUE(std::isfinite(limit_s));
  EXPECT_FALSE(trial.paused({{2, 1}, 2.0, false, 0.0, false}));
  EXPECT_TRUE(std::isinf(trial.deadline_s()));
  EXPECT_FALSE(trial.out_of_time(limit_s + 1.0));
  EXPECT_DOUBLE_EQ(trial.ran_s(50.0), 2.0);
  EXPECT_FALSE(trial.paused({{2, 1}, 102.0, true, 100.0, false}));
  EXPECT_DOUBLE_EQ(trial.deadline_s(), limit_s + 100.0);
  EXPECT_FALSE(trial.out_of_time(limit_s + 99.0));
  EXPECT_TRUE(trial.out_of_time(limit_s + 100.0));
}

TEST(RunningTrial, APauseDoesNotHoldBackTheEndOfTheBudget) {
  const StudySpec study = time_study();
  TrialRecord record;
  record.number = 2;
  TrialTargets targets{study.measure};
  targets.budget_end_s = 30.0;
  RunningTrial trial(study, record, 0.0, targets);
  trial.started({{2, 1}, 0.0, "", {}});
  EXPECT_FALSE(trial.paused({{2, 1}, 2.0, false, 0.0, false}));
  EXPECT_DOUBLE_EQ(trial.deadline_s(), 30.0);
  EXPECT_TRUE(trial.out_of_time(30.0));
}

TEST(RunningTrial, FailedInterleavingRunsAgain) {
  const StudySpec study = time_study();
  TrialRecord record;
  record.number = 2;
  record.purpose = TrialPurpose::confirm_incumbent;
  TrialTargets targets{study.measure};
  targets.interleaved_round = 1;
  for (const bool prints : {true, false}) {
    RunningTrial trial(study, record, 0.0, targets);
    trial.started({{2, 1}, 0.0, "", {}});
    if (prints) {
      EXPECT_TRUE(trial.paused({{2, 1}, 2.0, true, 1.0, true}));
    }
    const Outcome outcome{.kind = prints ? OutcomeKind::stopped : OutcomeKind::out_of_memory};
    EXPECT_EQ(trial.finished(outcome, nullptr, 5.0).status, TrialStatus::interrupted);
    EXPECT_TRUE(trial.cannot_be_interleaved());
  }
}

TEST(RunningTrial, ANewConfigurationThatFailsInARoundRunsAgainAndOthersStillTakeTurns) {
  const StudySpec study = time_study();
  TrialRecord record;
  record.number = 2;
  TrialTargets targets{study.measure};
  targets.interleaved_round = 2;
  RunningTrial trial(study, record, 0.0, targets);
  trial.started({{2, 1}, 0.0, "", {}});
  const Outcome failed{.kind = OutcomeKind::out_of_memory};
  EXPECT_EQ(trial.finished(failed, nullptr, 5.0).status, TrialStatus::interrupted);
  EXPECT_FALSE(trial.cannot_be_interleaved());
}

TEST(RunningTrial, ASearchTrialInTurnsTakesTheBaselinesTimeTimesTheRatio) {
  const StudySpec study = time_study();
  TrialRecord record;
  record.number = 2;
  TrialTargets targets{study.measure};
  targets.interleaved_round = 2;
  RunningTrial trial(study, record, 0.0, targets);
  trial.started({{2, 1}, 0.0, "", {}});
  double now_s = 0.0;
  std::vector<Interval> beside;
  for (int turn = 1; turn <= 8; ++turn) {
    const double step_s = turn % 2 == 0 ? 0.1 : 0.2;  // a neighbour comes and goes
    for (int step = 0; step < 5; ++step) {
      Report report;
      report.received_s = now_s += step_s;
      report.step = 5.0 * (turn - 1) + step + 1;
      trial.reported(report);
    }
    EXPECT_FALSE(trial.paused({{2, 1}, now_s, false, 0.0}));
    beside.push_back({10.0 * turn, now_s});
  }
  TrialRecord baseline;
  baseline.measurement.emplace();
  baseline.measurement->step_seconds_per_sample = 0.03;
  const TrialRecord ended =
      trial.finished(Outcome{.kind = OutcomeKind::completed}, &baseline, now_s, beside);
  ASSERT_TRUE(ended.measurement);
  EXPECT_NEAR(ended.measurement->step_seconds_per_sample, 0.06, 1e-9) << "half as fast";
  EXPECT_NEAR(ended.measurement->ratio_error, 0.0, 1e-9);
}

}  // namespace
}  // namespace steptune
