// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/json.hpp"
#include "common/numbers.hpp"
#include "trial_runner/sagemaker/simulated_account/account_options.hpp"
#include "trial_runner/sagemaker/simulated_account/faults.hpp"
#include "trial_runner/sagemaker/simulated_account/logs.hpp"
#include "trial_runner/sagemaker/simulated_account/program.hpp"

namespace steptune::simulated {

/// Parts of the account that a job uses; all outlive it.
struct AccountParts {
  const AccountOptions& options;
  const ProgramModel& program;
  FaultScript& faults;
  SimulatedLogs& logs;
};

/// One entry of SecondaryStatusTransitions, on the account's clock.
struct StatusTransition {
  std::string status;
  double start_s = 0.0;
  std::optional<double> end_s;
  std::string message;
};

/// One start of a job's containers.
struct ContainerRun {
  SimulatedProgram program;
  double start_s = 0.0;
  std::optional<double> end_s;
  std::vector<SimulatedTrial> trials{};  ///< trials of a pack, in order; empty: no pack
  [[nodiscard]] std::vector<TrialKey> trials_ended_by(double time_s) const;
};

/// A training job and its changes of status. Its owner must call `process_event` at each
/// `next_event_s`, in order of time among all jobs.
class SimulatedJob {
 public:
  /// `input` must be valid. `warm` is true if the job takes over a pool's machines.
  SimulatedJob(Json input, double now_s, bool warm, AccountParts account);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Json& input() const { return input_; }
  [[nodiscard]] bool warm() const { return warm_; }
  [[nodiscard]] bool spot() const { return spot_; }
  /// Returns instance types and their counts.
  [[nodiscard]] const std::vector<std::pair<std::string, int>>& instances() const {
    return instances_;
  }
  [[nodiscard]] double keep_alive_s() const;

  /// Returns the time of the job's next event; infinite if nothing more will happen.
  [[nodiscard]] double next_event_s() const { return due_s_; }
  /// Moves the job to the stage that follows at `next_event_s`.
  void process_event();
  void stop(double now_s);  ///< the job must be neither over nor stopping

  [[nodiscard]] bool over() const { return stage_ == Stage::over; }
  [[nodiscard]] const std::string& status() const { return status_; }
  [[nodiscard]] const std::string& secondary() const { return transitions_.back().status; }
  [[nodiscard]] const std::vector<StatusTransition>& transitions() const { return transitions_; }
  [[nodiscard]] const std::vector<ContainerRun>& runs() const { return runs_; }
  [[nodiscard]] const std::string& failure_reason() const { return end_.reason; }
  [[nodiscard]] double created_s() const { return transitions_.front().start_s; }
  [[nodiscard]] double modified_s() const { return transitions_.back().start_s; }
  [[nodiscard]] std::optional<double> training_start_s() const { return training_start_s_; }
  [[nodiscard]] std::optional<double> training_end_s() const { return training_end_s_; }
  [[nodiscard]] double billed_s() const { return billed_s_; }  ///< billed seconds of each instance
  /// True if another job may use this job's machines.
  [[nodiscard]] bool left_healthy_machines() const { return end_.are_machines_healthy; }

 private:
  enum class Stage { starting, downloading, preparing, training, stopping, uploading, over };
  struct JobEnd {
    std::string status;
    std::string secondary;
    std::string reason;
    bool are_machines_healthy = true;
  };

  /// Starts a stage that takes `duration_s`, and records the transition.
  void enter(Stage stage, const std::string& status, double now_s, double duration_s,
             std::string message);
  void enter_starting(double now_s);
  void leave_starting();
  void start_containers();
  /// Returns the trials of a pack, in order; empty if the job is no pack.
  [[nodiscard]] std::vector<SimulatedTrial> trials() const;
  void leave_training();
  void interrupt();
  void end_containers(double now_s, const std::string& last_words);
  void terminate_program(double now_s);
  void finish(double now_s);
  [[nodiscard]] JobEnd end_of_program() const;
  [[nodiscard]] double download_s() const;
  [[nodiscard]] double with_jitter(double seconds);

  Json input_;
  std::string name_;
  bool warm_ = false;
  bool spot_ = false;
  std::vector<std::pair<std::string, int>> instances_;
  AccountParts account_;
  Rng rng_;

  Stage stage_ = Stage::starting;
  double due_s_ = 0.0;  ///< end of the stage
  std::string status_ = "InProgress";
  std::vector<StatusTransition> transitions_;
  std::vector<ContainerRun> runs_;
  std::vector<SimulatedOutput*> outputs_;  ///< of the current run
  bool ran_ = false;                       ///< true if the program ran on the current machines
  bool no_capacity_ = false;
  // Times at which the containers end, one for each reason. The earliest time applies.
  double exit_s_ = 0.0;
  double limit_s_ = 0.0;
  double internal_error_s_ = 0.0;
  double interruption_s_ = 0.0;
  std::optional<double> training_start_s_;
  std::optional<double> training_end_s_;
  std::optional<double> attempt_start_s_;
  double billed_s_ = 0.0;
  JobEnd end_;  ///< empty status: unknown yet
};

}  // namespace steptune::simulated
