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
#include "trial_runner/rehearsal_stage.hpp"
#include "trial_runner/slurm/node_prices.hpp"
#include "trial_runner/slurm/submit_host.hpp"

namespace steptune::slurm {

/// Program of a trial.
struct VirtualProgram {
  double starts_after_s = 0.1;         ///< from srun to its first instruction
  std::optional<double> ends_after_s;  ///< nothing: goes on until it is ended
  int exit_status = 0;
  int status_when_told = 143;             ///< of its tasks once they are sent SIGTERM
  std::optional<int> tasks_that_start{};  ///< the first ones; nothing: all
  std::string last_words{};               ///< printed as it ends
  double silent_s = 0.0;                  ///< before its reports begin
  /// Its reports are those of this training; nothing: one step a second.
  std::optional<SimulatedTraining> training{};
};

/// What befalls a job. Times are seconds after its start.
struct JobFate {
  double queue_s = 1.0;              ///< before its start
  std::string reason = "Resources";  ///< why it waits
  std::optional<double> limit_s;     ///< shorter than was asked for
  std::optional<double> ends_after_s;
  /// `SUSPENDED`, and `RESTARTED`: its programs are killed, it runs again; not the end.
  std::string ends_as = "CANCELLED";
  double grace_s = 0.0;       ///< between SIGTERM to its programs and its end
  bool is_forgotten = false;  ///< acknowledged, then unknown: the controller was killed
};

/// Values of `JobFate::ends_as` that a job meets with from outside.
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
  double usd_per_hour = 0.0;  ///< of all its nodes
  double ended_s = 0.0;
  std::optional<double> restarted_s;
  bool told = false;  ///< its programs were sent SIGTERM

  [[nodiscard]] bool is_live() const { return state == "PENDING" || runs(); }
  [[nodiscard]] bool runs() const { return state == "RUNNING" || state == "SUSPENDED"; }
};

/// Use of a cluster by a study.
struct ClusterUse {
  int allocations = 0;  ///< that have started
  int steps = 0;
  double held_node_s = 0.0;
  double held_usd = 0.0;
  double step_usd = 0.0;  ///< of that, while a trial ran
};

/// A cluster under a virtual clock, for rehearsals and tests: its jobs and answers meet with what
/// real ones do. Understands the runner's own commands only.
class VirtualCluster {
 public:
  /// `clock` outlives the cluster.
  explicit VirtualCluster(VirtualClock& clock) : clock_(clock) {}

  // To be set by its owner.
  std::function<VirtualProgram(const StepRequest&)> program = [](const StepRequest&) {
    return VirtualProgram{};
  };
  std::function<JobFate(const VirtualJob&)> fate = [](const VirtualJob&) { return JobFate{}; };
  NodePrices usd_per_node_hour{};
  /// In place of an answer: called for each command once it was obeyed, but for those that an
  /// outage kept from the controller.
  std::function<std::optional<CommandResult>(const std::vector<std::string>&)> lose_answer;
  /// Before it is obeyed: a refusal.
  std::function<std::optional<CommandResult>(const std::vector<std::string>&)> refuse;
  std::vector<std::pair<double, double>> outages;           ///< from, to
  std::vector<std::pair<double, double>> unwritable_times;  ///< likewise, of the shared folder

  // Results.
  [[nodiscard]] const std::list<VirtualJob>& jobs() const { return jobs_; }
  [[nodiscard]] int live_jobs() const;
  /// Programs that were started, by step name.
  [[nodiscard]] const std::vector<std::string>& programs_started() const { return started_; }
  [[nodiscard]] const std::vector<std::pair<double, std::vector<std::string>>>& commands() const {
    return commands_;
  }
  [[nodiscard]] ClusterUse use() const;

  /// Lets time pass, with all that happens meanwhile.
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
  /// When a training reports next; infinite: none does.
  [[nodiscard]] double next_training_report_s() const;

  VirtualClock& clock_;
  std::list<VirtualJob> jobs_;
  std::map<std::string, double> leases_;  ///< by job name, on the wall clock
  std::list<std::shared_ptr<StepState>> steps_;
  std::vector<std::string> started_;
  std::vector<std::pair<double, std::vector<std::string>>> commands_;
  int last_id_ = 100;
};

}  // namespace steptune::slurm
