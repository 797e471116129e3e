// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.hpp"
#include "common/exit_status.hpp"
#include "trial_runner/rehearsal_stage.hpp"
#include "trial_runner/slurm/node_prices.hpp"
#include "trial_runner/slurm/submit_host.hpp"

namespace steptune::slurm {

/// Behaviour of a trial's program.
struct VirtualProgram {
  double starts_after_s = 0.1;         ///< from srun's start to the program's first instruction
  std::optional<double> ends_after_s;  ///< nullopt: runs until it is ended
  int exit_status = 0;
  int status_after_sigterm = k_sigterm_status;  ///< exit status of its tasks after SIGTERM
  /// Only the first `tasks_that_start` tasks start. nullopt: all tasks start.
  std::optional<int> tasks_that_start{};
  std::string last_words{};  ///< last line of its output; empty: none
  double silent_s = 0.0;     ///< seconds before its first report
  /// Timing of the training that the program reports; nullopt: one step a second.
  std::optional<SimulatedTraining> training{};
  /// True if neither the program nor srun ever ends, as on a node that does not answer.
  bool is_stuck = false;
};

/// Planned events of a job. Times are seconds after the job's start, except `queue_s`.
struct JobFate {
  double queue_s = 1.0;              ///< wait before its start
  std::string reason = "Resources";  ///< reason that squeue shows while the job waits
  std::optional<double> limit_s;     ///< time limit, if it differs from the requested one
  std::optional<double> ends_after_s;
  /// State after `ends_after_s`. `SUSPENDED` and `RESTARTED` do not end the job; a restart kills
  /// its programs, and the job runs again.
  std::string ends_as = "CANCELLED";
  double grace_s = 0.0;  ///< seconds from SIGTERM to its programs until the job's end
  /// True if the controller accepts the job but then forgets it, as after a crash.
  bool is_forgotten = false;
};

/// Values of `JobFate::ends_as` that come from outside the job.
inline constexpr std::array<const char*, 6> k_job_ends = {"PREEMPTED", "NODE_FAIL", "CANCELLED",
                                                          "SUSPENDED", "TIMEOUT",   "RESTARTED"};

struct VirtualJob {
  std::string name;
  int id = 0;
  int nodes = 1;
  std::string partition;
  double submitted_s = 0.0;
  double starts_s = 0.0;
  double limit_s = 0.0;
  JobFate fate;
  std::string state = "PENDING";
  bool has_started = false;
  double usd_per_hour = 0.0;  ///< price of all its nodes
  double ended_s = 0.0;
  std::optional<double> restarted_s;
  bool got_sigterm = false;  ///< its programs got SIGTERM

  [[nodiscard]] bool is_live() const { return state == "PENDING" || runs(); }
  [[nodiscard]] bool runs() const { return state == "RUNNING" || state == "SUSPENDED"; }
};

/// Totals of a study's use of the cluster.
struct ClusterUse {
  int allocations = 0;  ///< number of allocations that have started
  int steps = 0;
  double held_node_s = 0.0;
  double held_usd = 0.0;
  double step_usd = 0.0;  ///< part of `held_usd` for the time in which a trial ran
};

/// A simulated cluster under a virtual clock, for rehearsals and tests. Jobs and answers can fail
/// as on a real cluster. Understands only the commands that the runner uses.
class VirtualCluster {
 public:
  /// `clock` outlives the cluster.
  explicit VirtualCluster(VirtualClock& clock) : clock_(clock) {}

  // The owner may set these members.
  std::function<VirtualProgram(const StepRequest&)> program = [](const StepRequest&) {
    return VirtualProgram{};
  };
  std::function<JobFate(const VirtualJob&)> fate = [](const VirtualJob&) { return JobFate{}; };
  NodePrices usd_per_node_hour{};
  /// Returns a result that replaces the answer of a command after the command took effect. Not
  /// called during an outage.
  std::function<std::optional<CommandResult>(const std::vector<std::string>&)> lose_answer;
  /// Returns a result with which the controller refuses a command. The command then has no effect.
  std::function<std::optional<CommandResult>(const std::vector<std::string>&)> refuse;
  /// Start and end of each outage of the controller.
  std::vector<std::pair<double, double>> outages;
  /// Start and end of each time in which the shared folder cannot be written.
  std::vector<std::pair<double, double>> unwritable_times;

  // Results.
  [[nodiscard]] const std::list<VirtualJob>& jobs() const { return jobs_; }
  [[nodiscard]] int live_jobs() const;
  /// Returns names of the steps whose programs were started.
  [[nodiscard]] const std::vector<std::string>& programs_started() const { return started_; }
  [[nodiscard]] const std::vector<std::pair<double, std::vector<std::string>>>& commands() const {
    return commands_;
  }
  [[nodiscard]] ClusterUse use() const;

  /// Advances the clock to `time_s` and carries out all events up to that time.
  void pass_to(double time_s);
  [[nodiscard]] std::unique_ptr<SubmitHost> make_host();

 private:
  friend class VirtualHost;
  class VirtualStep;
  struct StepState;

  CommandResult obey(const std::vector<std::string>& argv);
  std::string submit(const std::vector<std::string>& argv);
  [[nodiscard]] std::string list_jobs() const;
  [[nodiscard]] std::string list_steps(const std::vector<std::string>& argv) const;
  void cancel(const std::vector<std::string>& argv);
  void end_job(VirtualJob& job, const std::string& state);
  [[nodiscard]] VirtualJob* find_job(int id);
  [[nodiscard]] const VirtualJob* find_job(int id) const;
  [[nodiscard]] double next_event_s(const VirtualJob& job) const;
  void advance_job(VirtualJob& job);
  void advance_step(StepState& step);
  [[nodiscard]] bool is_away(double time_s) const;
  /// Returns the time of the next training report; infinite if there is none.
  [[nodiscard]] double next_training_report_s() const;

  VirtualClock& clock_;
  std::list<VirtualJob> jobs_;
  std::map<std::string, double> leases_;  ///< end of each lease by job name, on the wall clock
  std::list<std::shared_ptr<StepState>> steps_;
  std::vector<std::string> started_;
  std::vector<std::pair<double, std::vector<std::string>>> commands_;
  int last_id_ = 100;
};

}  // namespace steptune::slurm
