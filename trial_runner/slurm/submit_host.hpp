// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"

namespace steptune::slurm {

/// Result of one of Slurm's commands, run as a child process with a time limit. The limit is needed
/// because a command runs for 20 s or more if the controller does not answer.
struct CommandResult {
  int status = 0;  ///< exit status; 128 + signal; 127: the command could not be started
  bool timed_out = false;
  std::string out;
  std::string err;

  [[nodiscard]] bool ok() const { return status == 0 && !timed_out; }
};
using Then = std::function<void(const CommandResult&)>;

/// Request to start a step: one program on each of its tasks.
struct StepRequest {
  std::string name;  ///< name of the step in Slurm, and of the step's folder in the study's folder
  std::string allocation;
  std::string job_id;
  std::string mark_word;  ///< random word in the step's marks (`StepScript::mark_word`)
  int tasks = 1;
  std::vector<std::string> argv;  ///< srun and all its arguments
  /// Length of the allocation's lease after the step's end.
  double keep_s = 0.0;
  std::map<std::string, std::string> values{};  ///< parameter values as text, for a simulated host
};

/// Piece of a step's output, with the time of its arrival on the runner's clock.
struct OutputChunk {
  double time_s = 0.0;
  std::string bytes;
};

struct StepEnd {
  std::optional<int> status;  ///< srun's status; nullopt: it was killed, or the status is lost
  std::string fault;          ///< why output is missing; empty: the output is complete
  /// Time at which srun ended (runner's clock), perhaps long before this program noticed. nullopt:
  /// unknown.
  std::optional<double> time_s{};
};

/// A step that this or an earlier tuner has started. The step continues if the tuner ends.
class Step {
 public:
  virtual ~Step() = default;
  /// Returns new output since the last call, at most a limited number of bytes.
  [[nodiscard]] virtual std::vector<OutputChunk> read() = 0;
  /// Returns the end of the step after srun has ended and all output was read; nullopt before.
  [[nodiscard]] virtual std::optional<StepEnd> end() = 0;
  /// Kills the step at once.
  virtual void kill() = 0;
  /// Removes the step's stored files. Must be the last call.
  virtual void forget() = 0;
};

/// A step of an earlier tuner.
struct EarlierStep {
  StepRequest request;  ///< `argv` is empty
  /// Null: the step was started from another machine, and only that machine can end it.
  std::unique_ptr<Step> step;
};

/// The machine from which the runner submits jobs. Runs Slurm's commands, starts steps, waits, and
/// keeps the files that nodes can see. For use by one thread. Errors are of kind `runner` and name
/// the file or program.
class SubmitHost {
 public:
  virtual ~SubmitHost() = default;

  /// Runs a command. A later `wait_until` or `poll` passes the result to `then`, if the host still
  /// exists.
  virtual void run(std::vector<std::string> argv, std::string input, Then then) = 0;
  /// Delivers results of commands that have ended.
  virtual void poll() = 0;
  /// True if commands are running.
  [[nodiscard]] virtual bool busy() const = 0;
  /// Waits until the deadline or until an event may have occurred.
  virtual void wait_until(double deadline_s) = 0;

  /// Creates the study's folder, which must be visible on the nodes, too. Call this before the
  /// functions below.
  [[nodiscard]] virtual Result<void> open_folder(const std::string& prefix) = 0;
  /// Returns a folder in the study's folder that contains exactly these files (contents by path).
  /// Equal sets of files share one folder, also among tuners.
  [[nodiscard]] virtual Result<std::filesystem::path> share_files(
      const std::map<std::string, std::string>& files) = 0;
  /// Removes all folders made by `share_files`. Call this when no step uses them any more.
  virtual void remove_shared_files() = 0;
  /// Starts a step, which continues if this program ends. If srun cannot be started, `Step::end`
  /// says why.
  [[nodiscard]] virtual Result<std::unique_ptr<Step>> start_step(const StepRequest& request) = 0;
  /// Returns the study's stored steps of earlier tuners, running or ended.
  [[nodiscard]] virtual std::vector<EarlierStep> find_steps() = 0;

  /// Renews an allocation's lease. When the lease expires, the placeholder job ends, and with it
  /// all steps in the allocation.
  [[nodiscard]] virtual Result<void> set_lease(const std::string& allocation,
                                               double until_wall_s) = 0;
  /// Returns the script of an allocation's placeholder job.
  [[nodiscard]] virtual std::string holder_script(const std::string& allocation) const = 0;
  /// Returns the CPUs of the allocation's nodes, in the form of `SLURM_JOB_CPUS_PER_NODE`:
  /// `64(x2),32`; perhaps empty. The placeholder job writes them when it starts; nullopt before.
  [[nodiscard]] virtual std::optional<std::string> node_cpus(
      const std::string& allocation) const = 0;
  /// Removes the files of an allocation that is gone: its lease, and the file that the placeholder
  /// writes at its start.
  virtual void forget_allocation(const std::string& allocation) = 0;
};

}  // namespace steptune::slurm
