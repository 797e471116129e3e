// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/null_studies/pausable_trial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <variant>

namespace steptune::null_studies {
namespace {

/// Returns the plan with its start at time 0, because the replay counts time from the trial's
/// start.
ReplayTrial::Plan from_zero(ReplayTrial::Plan plan) {
  plan.started_s = 0.0;
  return plan;
}

}  // namespace

PausableTrial::PausableTrial(ReplayTrial::Plan plan, int round, Neighbours& neighbours,
                             double now_s)
    : replay_(from_zero(std::move(plan))),
      neighbours_(&neighbours),
      round_(round),
      started_s_(now_s),
      since_s_(now_s) {}

bool PausableTrial::has_ended() const {
  return std::isinf(replay_.next_s());
}

double PausableTrial::next_s() const {
  if (paused_since_s_) return std::numeric_limits<double>::infinity();
  return neighbours_->end_of(since_s_, replay_.next_s() - work_s_);
}

TrialEvent PausableTrial::next() {
  const double now_s = next_s();
  disturbed_s_ += neighbours_->busy_between(since_s_, now_s);
  work_s_ = replay_.next_s();
  since_s_ = now_s;
  TrialEvent event = replay_.next();
  // A pause does not advance the times in reports and outcomes.
  const double unpaused_s = now_s - paused_s_;
  if (auto* started = std::get_if<TrialStarted>(&event)) {
    started->time_s = started_s_;
    if (round_ > 0) started->placement[k_interleaved_fact] = std::to_string(round_);
  } else if (auto* reported = std::get_if<TrialReported>(&event)) {
    reported->report.received_s = unpaused_s;
    reported->report.clock_s = unpaused_s - started_s_;
    ++progress_reports_;
  } else if (auto* finished = std::get_if<TrialFinished>(&event)) {
    finished->time_s = now_s;
    finished->outcome.duration_s = unpaused_s - started_s_;
    finished->outcome.billed_s = finished->outcome.duration_s;
  }
  return event;
}

void PausableTrial::count_work(double now_s) {
  disturbed_s_ += neighbours_->busy_between(since_s_, now_s);
  // Rounding must not carry the trial beyond its next event.
  work_s_ = std::min(work_s_ + neighbours_->work_between(since_s_, now_s), replay_.next_s());
  since_s_ = now_s;
}

void PausableTrial::leave_pause(double now_s) {
  paused_s_ += now_s - *paused_since_s_;
  paused_since_s_.reset();
  since_s_ = now_s;
}

void PausableTrial::pause(double now_s, std::vector<TrialEvent>& events) {
  if (paused_since_s_ || is_ending_) return;
  count_work(now_s);
  paused_since_s_ = now_s;
  events.emplace_back(TrialPaused{.key = key(), .time_s = now_s, .paused_s = paused_s_});
}

void PausableTrial::resume(double now_s, std::vector<TrialEvent>& events) {
  if (!paused_since_s_) return;
  leave_pause(now_s);
  events.emplace_back(
      TrialPaused{.key = key(), .time_s = now_s, .resumes = true, .paused_s = paused_s_});
}

void PausableTrial::stop(double now_s, double delay_s) {
  if (paused_since_s_) {
    leave_pause(now_s);
  } else {
    count_work(now_s);
  }
  is_ending_ = true;
  replay_.stop(work_s_ + std::min(delay_s, replay_.grace_s()));
}

}  // namespace steptune::null_studies
