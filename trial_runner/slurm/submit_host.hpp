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

/// A command of Slurm, run as a child process with a time limit of its own: with the controller
/// away it would go on for 20 s and more.
struct CommandResult {
  int status = 0;  ///< exit status; 128 + signal; 127: it could not be started
  bool timed_out = false;
  std::string out;
  std::string err;

  [[nodiscard]] bool ok() const { return status == 0 && !timed_out; }
};
using Then = std::function<void(const CommandResult&)>;

/// A step to be started: one program on each of its tasks.
struct StepRequest {
  std::string name;  ///< below the study's folder, and the step's for Slurm
  std::string allocation;
  std::string job_id;
  std::string mark_word;  ///< that its marks carry
  int tasks = 1;
  std::vector<std::string> argv;  ///< srun and all its words
  double keep_s = 120.0;          ///< lease that the allocation is given once the step has ended
  std::map<std::string, std::string> values{};  ///< of parameters, as text: for a simulated host
};

/// Output as it came. Times are those of the runner's clock.
struct OutputChunk {
  double time_s = 0.0;
  std::string bytes;
};

struct StepEnd {
  std::optional<int> status;  ///< srun's; nothing: it was killed, or nobody has seen it
  std::string fault;          ///< why output is missing; empty if none is
  /// When srun ended, runner's clock, which may be long before that is seen; nothing: not known.
  std::optional<double> time_s{};
};

/// A step that was started, or one that a former tuner has started: it goes on without this
/// program.
class Step {
 public:
  virtual ~Step() = default;
  /// What has come since the last call; bounded.
  [[nodiscard]] virtual std::vector<OutputChunk> read() = 0;
  /// Once srun has ended and all output was read.
  [[nodiscard]] virtual std::optional<StepEnd> end() = 0;
  /// Ends it at once, by force.
  virtual void kill() = 0;
  /// Forgets what is stored of it. The last call.
  virtual void forget() = 0;
};

/// A step of an earlier tuner.
struct EarlierStep {
  StepRequest request;  ///< without its command
  /// Null: it was started from another machine, where alone it can be asked to end.
  std::unique_ptr<Step> step;
};

/// The machine that the runner submits from: its commands, steps, files that nodes see, and time.
/// Of one thread. Errors are of kind `runner` and name the file or program.
class SubmitHost {
 public:
  virtual ~SubmitHost() = default;

  /// Runs a command; `then` is called with its result by a later `wait_until` or `poll`, unless the
  /// host is destroyed before.
  virtual void run(std::vector<std::string> argv, std::string input, Then then) = 0;
  /// Delivers results of commands that have ended.
  virtual void poll() = 0;
  /// Whether commands are under way.
  [[nodiscard]] virtual bool busy() const = 0;
  /// Lets time pass until the deadline or until something may have happened.
  virtual void wait_until(double deadline_s) = 0;

  /// Makes the study's folder, which the nodes must see too. Before any of the following.
  [[nodiscard]] virtual Result<void> open_folder(const std::string& prefix) = 0;
  /// A folder below the study's that holds these files (contents by path) and no others of them;
  /// equal files have one folder, whichever tuner wrote it.
  [[nodiscard]] virtual Result<std::filesystem::path> share_files(
      const std::map<std::string, std::string>& files) = 0;
  /// Removes all such folders: no step uses them any more.
  virtual void remove_shared_files() = 0;
  /// Starts a step, which goes on if this program ends. What keeps srun itself from starting is
  /// told by the step's end.
  [[nodiscard]] virtual Result<std::unique_ptr<Step>> start_step(const StepRequest& request) = 0;
  /// Steps of the study that are stored: those of earlier tuners, which went on or have ended
  /// since.
  [[nodiscard]] virtual std::vector<EarlierStep> find_steps() = 0;

  /// The placeholder of the allocation ends, and all with it, unless this is renewed in time.
  [[nodiscard]] virtual Result<void> set_lease(const std::string& allocation,
                                               double until_wall_s) = 0;
  /// The placeholder's script.
  [[nodiscard]] virtual std::string holder_script(const std::string& allocation) const = 0;
  /// Whether the placeholder was seen to run: a hint to look at the queue.
  [[nodiscard]] virtual bool holder_is_up(const std::string& allocation) const = 0;
  /// It is gone: its lease and what its placeholder has told are removed.
  virtual void forget_allocation(const std::string& allocation) = 0;
};

}  // namespace steptune::slurm
