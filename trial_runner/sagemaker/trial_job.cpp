// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/trial_job.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "common/clauses.hpp"
#include "common/enum_names.hpp"
#include "common/numbers.hpp"
#include "trial_runner/cost/usage_cost.hpp"

namespace steptune {
namespace {

constexpr std::array<std::pair<JobState, JobState>, 12> k_moves{{
    {JobState::waiting, JobState::requested},
    {JobState::waiting, JobState::finished},
    {JobState::requested, JobState::running},
    {JobState::requested, JobState::stopping},
    {JobState::requested, JobState::ended},
    {JobState::requested, JobState::waiting},
    {JobState::running, JobState::stopping},
    {JobState::running, JobState::ended},
    {JobState::running, JobState::waiting},
    {JobState::stopping, JobState::ended},
    {JobState::ended, JobState::finished},
    {JobState::ended, JobState::waiting},
}};

constexpr auto k_state_names = enum_names<JobState>({
    {JobState::waiting, "waiting"},
    {JobState::requested, "requested"},
    {JobState::running, "running"},
    {JobState::stopping, "stopping"},
    {JobState::ended, "ended"},
    {JobState::finished, "finished"},
});

}  // namespace

std::string to_text(JobState state) {
  return std::string(k_state_names.name_of(state));
}

bool can_move(JobState from, JobState to) {
  return std::ranges::find(k_moves, std::pair(from, to)) != k_moves.end();
}

void TrialJob::move_to(JobState state) {
  if (!can_move(state_, state)) {
    throw std::logic_error(fmt::format("trial {}: a job that is {} cannot become {}",
                                       spec_.key.trial, to_text(state_), to_text(state)));
  }
  state_ = state;
}

bool TrialJob::names_job() const {
  return !is_packed() || launch_->pack.front().key == spec_.key;
}

bool TrialJob::under_way() const {
  return state_ == JobState::requested || state_ == JobState::running ||
         state_ == JobState::stopping;
}

void TrialJob::postpone(double not_before_s) {
  if (state_ != JobState::waiting) throw std::logic_error("only a job that waits can be postponed");
  not_before_s_ = not_before_s;
}

void TrialJob::request(JobLaunch launch, double poll_at_s) {
  move_to(JobState::requested);
  next_launch_ = launch.number;
  launch_ = std::move(launch);
  watch_ = {};
  watch_.next_poll_s = poll_at_s;
}

const JobLaunch& TrialJob::launch() const {
  if (!launch_) throw std::logic_error("a trial that waits has no job");
  return *launch_;
}

JobWatch& TrialJob::watch() {
  return watch_;
}

const JobWatch& TrialJob::watch() const {
  return watch_;
}

void TrialJob::settle_pool(bool reused) {
  if (!launch_ || launch_->pool_settled) throw std::logic_error("no pool is to be settled");
  launch_->pool_settled = true;
  if (!reused) launch_->pool_job.reset();
}

void TrialJob::start(double time_s, std::vector<TrialEvent>& events) {
  if (state_ == JobState::waiting || state_ == JobState::finished) {
    throw std::logic_error(
        fmt::format("trial {}: a job that is {} does not run", spec_.key.trial, to_text(state_)));
  }
  const bool begins = state_ == JobState::requested;
  if (begins) move_to(JobState::running);
  if (!begins && started_s_) return;
  last_output_s_ = time_s;
  if (started_s_) return;
  started_s_ = time_s;
  std::map<std::string, std::string> placement{{"job", launch().job}};
  placement["instances"] = to_text(spec_.resources);
  placement["start"] = !names_job() ? "in turn" : launch().pool_job ? "warm" : "cold";
  events.emplace_back(TrialStarted{spec_.key, time_s, launch().job, std::move(placement)});
}

void TrialJob::read_line(double time_s, const LogLine& line, std::vector<TrialEvent>& events) {
  start(time_s, events);
  last_output_s_ = std::max(last_output_s_, time_s);
  if (auto report = output_.read_line(std::max(time_s, *started_s_), line)) {
    events.emplace_back(TrialReported{spec_.key, *std::move(report)});
  }
}

void TrialJob::stop(StopCause reason) {
  if (state_ != JobState::stopping) move_to(JobState::stopping);
  if (!stop_accepted_) stop_reason_ = reason;
}

void TrialJob::accept_stop() {
  if (state_ != JobState::stopping) throw std::logic_error("no stop was requested");
  stop_accepted_ = true;
}

void TrialJob::launch_again(double not_before_s) {
  move_to(JobState::waiting);
  ++capacity_failures_;
  if (names_job()) next_launch_ = launch().number + 1;
  launch_.reset();
  not_before_s_ = not_before_s;
}

void TrialJob::leave_pack() {
  move_to(JobState::ended);
  output_until_s_ = -k_infinity;
}

void TrialJob::give_back() {
  move_to(JobState::waiting);
  launch_.reset();
  last_description_.reset();
}

void TrialJob::end(JobDescription last, double output_until_s) {
  move_to(JobState::ended);
  last_description_ = std::move(last);
  output_until_s_ = output_until_s;
}

const JobDescription& TrialJob::last_description() const {
  if (!last_description_) throw std::logic_error("the job has not ended");
  return *last_description_;
}

void TrialJob::add_bill(double billable_s) {
  billed_s_ += billable_s;
  billed_usd_ += usage_usd(usd_per_hour_, billable_s);
}

TrialFinished TrialJob::finish(double time_s) {
  if (state_ != JobState::ended) {
    throw std::logic_error("only a job that has ended can be finished");
  }
  if (!turn_end_) {
    return close(time_s,
                 job_outcome(last_description(), stop_reason_, spec_.limits, output_.tail()));
  }
  const auto turn = std::ranges::find(launch().pack, spec_.key, &PackedTrial::key);
  return close(turn_end_->time_s,
               turn_outcome(*turn_end_, turn->seconds, stop_reason_, spec_.limits, output_.tail()));
}

TrialFinished TrialJob::give_up(double time_s, OutcomeKind kind, std::string detail) {
  if (state_ != JobState::waiting) {
    throw std::logic_error("only a trial that waits can be given up");
  }
  return close(time_s, {.kind = kind, .detail = std::move(detail)});
}

TrialFinished TrialJob::close(double time_s, Outcome outcome) {
  move_to(JobState::finished);
  output_.finish();
  add_clause(outcome.detail, output_.faults());
  outcome.duration_s = started_s_ ? std::max(0.0, time_s - *started_s_) : 0.0;
  outcome.billed_s = billed_s_;
  outcome.billed_usd = billed_usd_;
  return TrialFinished{spec_.key, time_s, std::move(outcome)};
}

}  // namespace steptune
