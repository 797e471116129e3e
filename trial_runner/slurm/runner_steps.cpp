// SPDX-License-Identifier: Apache-2.0
// Part of SlurmRunner that enforces limits of trials that run as steps, ends them, and decides
// their outcomes.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/clauses.hpp"
#include "common/text.hpp"
#include "trial_runner/slurm/job_names.hpp"
#include "trial_runner/slurm/slurm_runner.hpp"

namespace steptune {

using slurm::Allocation;
using slurm::AllocationState;
using slurm::StepTrial;

namespace {

constexpr const char* k_restarted = "REQUEUED";

}  // namespace

void SlurmRunner::finish(StepTrial& trial, Outcome outcome) {
  const bool launched = !trial.waits();
  const std::string held = launched ? trial.step_launch().request.allocation : "";
  const double ended_s = trial.ended_s(clock_.now_s());
  events_.emplace_back(trial.finish(clock_.now_s(), std::move(outcome),
                                    options_.usd_per_node_hour.of(trial.allocation_spec())));
  if (!launched) return;
  trial.forget_step();
  Allocation* allocation = allocations_.find(held);
  if (allocation != nullptr && allocation->user == trial.key()) {
    allocations_.set_free(*allocation, ended_s);
    allocation->failed_launches = 0;
  }
}

void SlurmRunner::ask_to_end(StepTrial& trial, StopCause cause, bool by_force) {
  const double now_s = clock_.now_s();
  const bool first = !trial.cause();
  trial.set_cause(cause, now_s);
  if (by_force) trial.end_grace(now_s);
  if (trial.waits() || trial.step_ended_s()) return;
  const std::string& step = trial.marks().step_id();
  if (by_force || !trial.has_started() || step.empty() || trial.spec().limits.grace_s <= 0.0) {
    if (!trial.was_killed()) trial.kill();
    if (by_force && !step.empty()) host_->run({"scancel", step}, {}, [](const auto&) {});
  } else if (first) {
    host_->run({"scancel", "--signal=TERM", step}, {}, [](const auto&) {});
  }
}

void SlurmRunner::push_towards_end(StepTrial& trial) {
  const double asked_for_s = clock_.now_s() - trial.asked_s();
  const double grace_s = trial.spec().limits.grace_s;
  if (asked_for_s < grace_s) return;
  if (!trial.was_killed()) ask_to_end(trial, *trial.cause(), true);
  Allocation* allocation = allocations_.find(trial.step_launch().request.allocation);
  // Give the allocation back early enough that the controller can end its job before the loop stops
  // waiting.
  const double given_up_s = grace_s + k_forced_end_s - slurm::k_settling_s;
  if (asked_for_s > given_up_s && allocation != nullptr &&
      allocation->state == AllocationState::running) {
    notices_.add(fmt::format("the step of trial {} does not end: its allocation {} is given back",
                             trial.key().trial, allocation->id),
                 trial.key().trial);
    allocations_.give_back(*allocation);
    trial.kill();
  }
}

void SlurmRunner::hold_to_limits(StepTrial& trial) {
  const double now_s = clock_.now_s();
  if (trial.cause()) {
    push_towards_end(trial);
    return;
  }
  const auto [limit_s, cause] = trial.next_limit();
  if (trial.known_until_s() >= limit_s) {
    ask_to_end(trial, cause, false);
    return;
  }
  if (trial.was_killed()) return;
  const Allocation* allocation = allocations_.find(trial.step_launch().request.allocation);
  // If the allocation is gone or back in the queue, the step has ended, although srun may still
  // run.
  const bool gone =
      allocation == nullptr || (allocation->state != AllocationState::running &&
                                (allocation->given_back || allocation->job_state != "COMPLETING"));
  const bool late =
      !trial.has_started() && now_s > trial.step_launch().at_s + options_.launch_limit_s;
  if (late) trial.set_late();
  if (gone || late) {
    trial.kill();
  } else if (trial.marks().started() == 0 && now_s >= trial.next_step_poll_s()) {
    look_for_step(trial);
  }
}

void SlurmRunner::look_for_step(StepTrial& trial) {
  const slurm::StepLaunch& launch = trial.step_launch();
  const double waited_s = clock_.now_s() - launch.at_s;
  const double gap_s =
      std::clamp(waited_s, slurm::k_launch_patience_s, slurm::k_longest_request_gap_s);
  trial.set_next_step_poll_s(clock_.now_s() + gap_s);
  host_->run({"squeue", "--noheader", "--all", "--steps", "--format=%i|%j",
              "--jobs=" + launch.request.job_id},
             {}, [this, own = launch.request.name](const slurm::CommandResult& listed) {
               if (listed.ok()) on_steps_listed(own, listed.out);
             });
}

void SlurmRunner::on_steps_listed(const std::string& own, const std::string& text) {
  const auto trial = std::ranges::find_if(trials_, [&own](const StepTrial& each) {
    return !each.waits() && each.step_launch().request.name == own;
  });
  if (trial == trials_.end() || trial->was_killed() || trial->step_ended_s()) return;
  std::vector<std::string> in_the_way;
  for (const auto& [id, name] : slurm::parse_steps(text)) {
    // The step exists, so only its start on the nodes is slow.
    if (name == own) return;
    if (slurm::trial_of_step(name)) in_the_way.push_back(id);
  }
  // If giving up launches has not helped, the steps in the way are not the reason.
  if (trial->blocked_launches() >= k_lasting_failures) return;
  for (const std::string& id : in_the_way)
    host_->run({"scancel", id}, {}, [](const auto&) {});
  trial->give_up_launch();
  trial->kill();
}

bool SlurmRunner::on_failed_launch(StepTrial& trial, const std::string& why, bool usable) {
  if (trial.has_started()) {
    // The loop already knows the trial's start, so a new launch would be a new attempt.
    finish(trial, {.kind = OutcomeKind::lost, .detail = why});
    return true;
  }
  Allocation* allocation = allocations_.find(trial.step_launch().request.allocation);
  if (trial.launch_given_up() || !usable) {
    // The launch has not failed because of the trial, so do not count it. `RequestBackoff` counts
    // allocations that end unused.
    trial.wait_again(clock_.now_s(), false);
    if (allocation != nullptr) allocations_.set_free(*allocation);
    return false;
  }
  if (trial.failed_launches() + 1 >= k_lasting_failures) {
    finish(trial, {.kind = OutcomeKind::not_started,
                   .detail = fmt::format("{} launches failed: {}", k_lasting_failures, why)});
    if (allocation != nullptr) allocations_.give_back(*allocation);
    return true;
  }
  notices_.add(fmt::format("trial {}: {}; it is launched again", trial.key().trial, why),
               trial.key().trial);
  trial.wait_again(clock_.now_s(), true);
  if (allocation == nullptr) return false;
  allocations_.set_free(*allocation);
  // A single failure may be chance, such as a restart of a node's daemon.
  if (++allocation->failed_launches > 1) allocations_.give_back(*allocation);
  return false;
}

std::optional<slurm::StepEvidence> SlurmRunner::settled_evidence(const StepTrial& trial) {
  slurm::StepEvidence evidence = trial.evidence();
  if (evidence.cause) return evidence;
  const slurm::StepLaunch& launch = trial.step_launch();
  const double ended_s = *trial.step_ended_s();
  const double judging_s = clock_.now_s() - ended_s;
  evidence.allocation_state = allocations_.state_after(launch.request.allocation, ended_s);
  if (!evidence.allocation_state) {
    // If the controller does not answer for as long as the loop waits for a trial's end, the tasks'
    // marks alone decide the outcome.
    return judging_s < k_forced_end_s ? std::nullopt : std::optional(std::move(evidence));
  }
  const Allocation* allocation = allocations_.find(launch.request.allocation);
  if (allocation != nullptr && allocation->state == AllocationState::running &&
      launch.allocation_start_wall_s > 0.0 &&
      allocation->start_wall_s > launch.allocation_start_wall_s + 1.0) {
    // The controller had forgotten the start of the job, requeued it and started it again. So no
    // step of its earlier run is left.
    evidence.allocation_state = k_restarted;
  }
  if (evidence.allocation_state == "COMPLETING" && judging_s < slurm::k_settling_s)
    return std::nullopt;
  return evidence;
}

bool SlurmRunner::decide_outcome(StepTrial& trial) {
  Allocation* allocation = allocations_.find(trial.step_launch().request.allocation);
  if (trial.has_started()) backoff_.on_used(kind_of(trial));
  if (slurm::is_proven_success(trial.marks(), trial.cause())) {
    finish(trial, {});
    return true;
  }
  const auto evidence = settled_evidence(trial);
  if (!evidence) return false;
  for (const std::string& node : trial.lost_nodes())
    lost_nodes_.add(node, clock_.now_s());
  std::string why;
  auto outcome = slurm::step_outcome(trial.marks(), *evidence, trial.spec().limits,
                                     trial.step_launch().request.tasks, why);
  if (!outcome) {
    if (trial.is_late()) {
      why = fmt::format("not all tasks had started within {} (\"launch_limit\"): {}",
                        format_duration(options_.launch_limit_s), why);
    }
    const bool usable = !evidence->allocation_state ||
                        slurm::phase_of(*evidence->allocation_state) == slurm::JobPhase::usable;
    return on_failed_launch(trial, why, usable);
  }
  // Slurm sends SIGTERM before a preemption with a grace time, so the allocation probably ends
  // soon.
  const bool ends_soon = !evidence->cause && trial.marks().was_asked_to_end();
  finish(trial, *std::move(outcome));
  if (ends_soon && allocation != nullptr) allocations_.give_back(*allocation);
  return true;
}

bool SlurmRunner::watch(StepTrial& trial) {
  if (trial.waits()) {
    if (!trial.cause()) return false;
    finish(trial, {.kind = OutcomeKind::stopped});
    return true;
  }
  trial.read(clock_.now_s(), events_);
  Allocation* allocation = allocations_.find(trial.step_launch().request.allocation);
  if (allocation != nullptr && allocation->user == trial.key() && trial.has_started()) {
    allocations_.set_paid_by_trial(*allocation, trial.started_s());
  }
  if (!trial.step_ended_s()) hold_to_limits(trial);
  if (trial.step_ended_s()) return decide_outcome(trial);
  // The allocation was given back `k_settling_s` before the loop stops waiting. Give the trial up
  // when half of that time is left.
  const double given_up_s =
      trial.spec().limits.grace_s + k_forced_end_s - 0.5 * slurm::k_settling_s;
  const bool given_up = trial.cause() && clock_.now_s() - trial.asked_s() > given_up_s;
  if (!given_up) return false;
  std::string why;
  Outcome outcome = slurm::step_outcome(trial.marks(), trial.evidence(), trial.spec().limits,
                                        trial.step_launch().request.tasks, why)
                        .value();  // has a value, because the trial has a cause
  add_clause(outcome.detail, "its step does not end; its allocation was given back");
  finish(trial, std::move(outcome));
  return true;
}

}  // namespace steptune
