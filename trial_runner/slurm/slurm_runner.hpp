// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "trial_runner/admission.hpp"
#include "trial_runner/machine_holder.hpp"
#include "trial_runner/notices.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/slurm/allocations.hpp"
#include "trial_runner/slurm/lost_nodes.hpp"
#include "trial_runner/slurm/request_backoff.hpp"
#include "trial_runner/slurm/slurm_options.hpp"
#include "trial_runner/slurm/step_outcome.hpp"
#include "trial_runner/slurm/step_trial.hpp"
#include "trial_runner/slurm/submit_host.hpp"

namespace steptune {

/// Runs trials as job steps in allocations that the runner holds for them. An allocation is a
/// placeholder job whose name is made from study, allocation spec and a unique number. So the
/// runner finds the job again after a crash, and a lost answer never leads to a second job. Only
/// allocations wait in the queue; steps start at once. A trial has succeeded only if each of its
/// tasks has marked its start and exit status 0. While trials wait for an allocation, other trials
/// can run. A trial starts only in an allocation that lasts long enough for it.
class SlurmRunner final : public Runner, public MachineHolder {
 public:
  /// `clock` outlives the runner.
  SlurmRunner(const Clock& clock, std::unique_ptr<slurm::SubmitHost> host,
              slurm::SlurmOptions options);
  SlurmRunner(const SlurmRunner&) = delete;
  SlurmRunner& operator=(const SlurmRunner&) = delete;
  ~SlurmRunner() override = default;

  /// Reads the queue and finds allocations of an earlier tuner.
  [[nodiscard]] Result<void> begin_study(const std::string& name,
                                         const std::string& identity) override;
  [[nodiscard]] int capacity() const override { return options_.parallel; }
  [[nodiscard]] Result<void> start(const TrialSpec& spec) override;
  [[nodiscard]] Result<std::vector<TrialEvent>> wait(double deadline_s) override;
  void stop(TrialKey key) override;
  void kill_all() override;
  [[nodiscard]] Result<std::vector<TrialKey>> adopt(std::span<const Orphan> orphans) override;
  [[nodiscard]] MachineHolder& machine_holder() override { return *this; }

  /// Returns twice the capacity, plus the number of trials that wait in the queue, because they use
  /// no other trial's place.
  [[nodiscard]] int backlog() const override;
  [[nodiscard]] int open_places() const override;
  [[nodiscard]] int trials_in_turn() const override { return 1; }
  [[nodiscard]] double expected_start_s(const Resources& resources) const override;
  /// Returns the trials that have waited for at least half a minute: for an allocation, or for the
  /// end of another trial.
  [[nodiscard]] std::vector<TrialKey> trials_without_machine() const override;
  void expect_at_most(std::int64_t further_trials) override { further_trials_ = further_trials; }
  [[nodiscard]] Result<void> release(double longest_s) override;
  [[nodiscard]] Result<std::string> detach() override;
  [[nodiscard]] std::vector<UnusedTime> take_unused() override {
    return allocations_.take_unused();
  }
  [[nodiscard]] std::vector<Notice> take_notices() override { return notices_.take(); }

 private:
  using Trials = std::list<slurm::StepTrial>;

  [[nodiscard]] Result<void> advance();
  [[nodiscard]] std::string kind_of(const slurm::StepTrial& trial) const;
  /// Returns the seconds that an allocation must still last for the trial to start in it.
  [[nodiscard]] double longest_s(const TrialSpec& spec) const;

  // runner_steps.cpp
  /// Processes the trial's output and limits. Returns true when the trial is over.
  [[nodiscard]] bool watch(slurm::StepTrial& trial);
  void hold_to_limits(slurm::StepTrial& trial);
  /// Requests the list of steps, because no task of the trial has started yet. If its step is not
  /// in the list, cancels the study's other steps in its allocation, and gives the launch up.
  void look_for_step(slurm::StepTrial& trial);
  void on_steps_listed(const std::string& own, const std::string& text);
  void push_towards_end(slurm::StepTrial& trial);
  /// Decides the outcome of an ended step. Returns false if the trial will be launched again, or if
  /// the outcome is not known yet.
  [[nodiscard]] bool decide_outcome(slurm::StepTrial& trial);
  /// Returns all evidence about an ended step; nullopt while the controller may still report more.
  [[nodiscard]] std::optional<slurm::StepEvidence> settled_evidence(const slurm::StepTrial& trial);
  /// Decides if a trial is launched again after a failed launch. Returns true if the trial is over
  /// instead. `usable` is true if the allocation can be used again.
  [[nodiscard]] bool on_failed_launch(slurm::StepTrial& trial, const std::string& why, bool usable);
  void finish(slurm::StepTrial& trial, Outcome outcome);
  void ask_to_end(slurm::StepTrial& trial, StopCause cause, bool by_force);

  /// Returns the folder with the copy of PyTorch's hook that nodes can read. The first call makes
  /// the copy. Empty if the trial has no hook.
  [[nodiscard]] Result<std::filesystem::path> shared_hook(const TrialSpec& spec);
  void start_waiting();
  [[nodiscard]] bool launch(slurm::StepTrial& trial, slurm::Allocation& allocation);
  // runner_allocations.cpp
  void heed_setbacks();
  void give_up_waiting(const std::string& kind, const std::string& why);
  /// Returns the number of allocations of this kind that are held or requested; of all kinds if
  /// `kind` is empty.
  [[nodiscard]] int held_of_kind(const std::string& kind) const;
  void ask_for_allocations();
  void replace_short(slurm::Allocation& allocation, double needed_s);
  void give_back_surplus();
  [[nodiscard]] int running_trials() const;
  [[nodiscard]] bool is_waited_for(const std::string& kind) const;
  /// Returns the number of trials that wait for Slurm, not for other trials of the study. Returns 0
  /// if no other kind of allocation could run further trials soon. These would also wait, so it is
  /// too early to choose them.
  [[nodiscard]] int trials_in_queue() const;
  [[nodiscard]] static std::string price_text(int nodes, std::optional<double> usd_per_node_hour);
  void add_leftover_notices();

  const Clock& clock_;
  slurm::SlurmOptions options_;
  std::unique_ptr<slurm::SubmitHost> host_;
  Admission admission_;
  Notices notices_;
  slurm::Allocations allocations_;
  slurm::RequestBackoff backoff_;
  slurm::LostNodes lost_nodes_;
  std::string prefix_;                 ///< prefix of the names of jobs and of the study's folder
  std::filesystem::path shared_hook_;  ///< empty: not copied yet
  Trials trials_;                      ///< unfinished trials
  std::vector<TrialEvent> events_;
  std::optional<std::int64_t> further_trials_;
};

}  // namespace steptune
