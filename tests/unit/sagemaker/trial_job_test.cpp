// SPDX-License-Identifier: Apache-2.0
// Tests the states of a trial's job: which moves are legal, and which events each of them gives.
#include "trial_runner/sagemaker/trial_job.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

using testing::HasSubstr;
constexpr JobState k_states[] = {JobState::waiting,  JobState::requested, JobState::running,
                                 JobState::stopping, JobState::ended,     JobState::finished};

TrialJob make_job() {
  TrialSpec spec;
  spec.key = {7, 1};
  spec.resources.instance_type = "ml.g5.xlarge";
  return {spec, PoolKey{}, 3600.0, JobOutput::create(spec).value()};
}

JobLaunch launch(int number = 1) {
  JobLaunch launch;
  launch.job = "job-r" + std::to_string(number);
  launch.number = number;
  launch.requested_s = 10.0;
  return launch;
}

JobDescription completed() {
  JobDescription state;
  state.status = "Completed";
  return state;
}

/// Returns a job that reached a state by legal moves.
TrialJob job_at(JobState state) {
  TrialJob job = make_job();
  std::vector<TrialEvent> events;
  if (state == JobState::waiting) return job;
  if (state == JobState::finished) {
    (void)job.give_up(0.0, OutcomeKind::stopped, {});
    return job;
  }
  job.request(launch(), 15.0);
  if (state == JobState::running) job.start(20.0, events);
  if (state == JobState::stopping) job.stop(StopCause::caller);
  if (state == JobState::ended) job.end(completed(), 30.0);
  return job;
}

/// Makes the move that leads to a state, from any state of the job.
void move(TrialJob& job, JobState to) {
  std::vector<TrialEvent> events;
  switch (to) {
    case JobState::waiting:
      return job.state() == JobState::ended ? job.give_back() : job.launch_again(60.0);
    case JobState::requested:
      return job.request(launch(), 15.0);
    case JobState::running:
      return job.start(20.0, events);
    case JobState::stopping:
      return job.stop(StopCause::caller);
    case JobState::ended:
      return job.end(completed(), 30.0);
    case JobState::finished:
      if (job.waits()) {
        (void)job.give_up(40.0, OutcomeKind::stopped, {});
      } else {
        (void)job.finish(40.0);
      }
  }
}

TEST(TrialJob, MakesEveryLegalMoveAndNoOther) {
  int legal = 0;
  for (const JobState from : k_states) {
    for (const JobState to : k_states) {
      SCOPED_TRACE(to_text(from) + " -> " + to_text(to));
      TrialJob job = job_at(from);
      ASSERT_EQ(job.state(), from);
      if (can_move(from, to)) {
        ++legal;
        EXPECT_NO_THROW(move(job, to));
        EXPECT_EQ(job.state(), to);
        continue;
      }
      // Staying in a state is no move, so it gives no second event.
      const bool stays = from == to && (to == JobState::running || to == JobState::stopping);
      // The start of a job that is stopping or has ended may be reported late.
      const bool is_late_start =
          to == JobState::running && (from == JobState::stopping || from == JobState::ended);
      if (stays || is_late_start) {
        EXPECT_NO_THROW(move(job, to));
      } else {
        EXPECT_THROW(move(job, to), std::logic_error);
      }
      EXPECT_EQ(job.state(), from) << "a refused move changes nothing";
    }
  }
  EXPECT_EQ(legal, 12);
}

TEST(TrialJob, AStoppingJobIsNotLaunchedAgain) {
  TrialJob job = job_at(JobState::stopping);
  EXPECT_THROW(job.launch_again(60.0), std::logic_error);
  EXPECT_FALSE(can_move(JobState::stopping, JobState::waiting));
}

TEST(TrialJob, AnIllegalMoveNamesTrialAndStages) {
  TrialJob job = job_at(JobState::ended);
  try {
    job.request(launch(), 0.0);
    FAIL();
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("trial 7: a job that is ended cannot become requested"));
  }
}

TEST(TrialJob, ReportsItsStartOnceInTwoLaunches) {
  TrialJob job = make_job();
  std::vector<TrialEvent> events;
  job.request(launch(1), 15.0);
  job.start(20.0, events);
  job.launch_again(100.0);
  EXPECT_EQ(job.not_before_s(), 100.0);
  EXPECT_EQ(job.next_launch(), 2);
  EXPECT_EQ(job.capacity_failures(), 1);
  job.request(launch(2), 105.0);
  EXPECT_EQ(job.watch().next_poll_s, 105.0);
  job.start(200.0, events);
  EXPECT_EQ(job.state(), JobState::running);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(std::get<TrialStarted>(events[0]).token, "job-r1");
  EXPECT_EQ(job.last_output_s(), 200.0) << "the time without a machine is not silence";
}

TEST(TrialJob, ALineProvesAnUnseenStart) {
  TrialJob job = job_at(JobState::requested);
  std::vector<TrialEvent> events;
  job.read_line(21.0, {"job-r1", "algo-1", 0.0, R"([steptune] {"v":1,"step":1})"}, events);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(std::get<TrialStarted>(events[0]).time_s, 21.0);
  EXPECT_EQ(std::get<TrialReported>(events[1]).report.step, 1.0);
  EXPECT_EQ(job.state(), JobState::running);
}

TEST(TrialJob, TheFirstHostThatReportsIsUsed) {
  TrialJob job = job_at(JobState::running);
  std::vector<TrialEvent> events;
  const char* line = R"([steptune] {"v":1,"step":1})";
  job.read_line(22.0, {"job-r1", "algo-2", 0.0, line}, events);
  job.read_line(23.0, {"job-r1", "algo-1", 0.0, line}, events);
  EXPECT_EQ(events.size(), 1U);
  EXPECT_EQ(job.last_output_s(), 23.0);
}

TEST(TrialJob, ALaterStopCauseCountsUntilOneIsAccepted) {
  TrialJob job = job_at(JobState::running);
  job.stop(StopCause::no_output);
  job.stop(StopCause::caller);
  EXPECT_EQ(job.stop_reason(), StopCause::caller);
  job.accept_stop();
  job.stop(StopCause::no_output);
  EXPECT_EQ(job.stop_reason(), StopCause::caller);
}

TEST(TrialJob, ItsBillCoversAllLaunchesAndTheWaitingPool) {
  TrialJob job = make_job();
  job.request(launch(1), 0.0);
  job.add_bill(10.0);
  job.launch_again(60.0);
  JobLaunch warm = launch(2);
  warm.pool_job = "former";
  warm.pool_settled = false;
  job.request(warm, 60.0);
  job.settle_pool(true);
  EXPECT_THROW(job.settle_pool(true), std::logic_error) << "once";
  job.add_pool_bill(5.0);
  job.add_bill(20.0);
  job.end(completed(), 80.0);
  const TrialFinished end = job.finish(100.0);
  EXPECT_EQ(end.outcome.kind, OutcomeKind::completed);
  EXPECT_EQ(end.outcome.billed_s, 30.0);
  EXPECT_EQ(end.outcome.billed_usd, 35.0) << "a dollar a second, and the pool";
  EXPECT_EQ(end.outcome.duration_s, 0.0) << "no program was seen";
}

TEST(TrialJob, APoolThatWasNotReusedMakesAColdStart) {
  TrialJob job = make_job();
  JobLaunch warm = launch();
  warm.pool_job = "former";
  warm.pool_settled = false;
  job.request(warm, 15.0);
  job.settle_pool(false);
  std::vector<TrialEvent> events;
  job.start(20.0, events);
  EXPECT_EQ(std::get<TrialStarted>(events[0]).placement.at("start"), "cold");
}

TEST(TrialJob, EarlierLaunchesOfAnAdoptedJobAreNoFailures) {
  TrialJob job = make_job();
  JobLaunch former = launch(3);
  former.adopted = true;
  job.request(former, 0.0);
  EXPECT_EQ(job.capacity_failures(), 0);
  job.launch_again(60.0);
  EXPECT_EQ(job.next_launch(), 4);
  EXPECT_EQ(job.capacity_failures(), 1);
}

TEST(TrialJob, CallsInTheWrongStateThrow) {
  TrialJob job = make_job();
  EXPECT_THROW((void)job.launch(), std::logic_error);
  EXPECT_THROW((void)job.last_description(), std::logic_error);
  EXPECT_THROW((void)job.finish(0.0), std::logic_error);
  EXPECT_THROW(job.accept_stop(), std::logic_error);
  job.request(launch(), 0.0);
  EXPECT_THROW(job.postpone(10.0), std::logic_error);
  EXPECT_THROW((void)job.give_up(0.0, OutcomeKind::stopped, {}), std::logic_error);
}

}  // namespace
}  // namespace steptune
