// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.hpp"
#include "common/rng.hpp"
#include "trial_runner/rehearsal_stage.hpp"
#include "trial_runner/slurm/node_prices.hpp"
#include "trial_runner/slurm/submit_host.hpp"

namespace steptune::slurm {

/// What a study's steps have used of a simulated cluster.
struct ClusterUse {
  int allocations = 0;  ///< that have started
  int steps = 0;
  double held_node_s = 0.0;
  double held_usd = 0.0;
  double step_usd = 0.0;  ///< of that, while a trial ran
};

/// A cluster under a virtual clock, for rehearsals: jobs wait in its queue for a time that chance
/// decides, steps start at once and report as their programs would. Understands the runner's own
/// commands only.
class SimulatedHost final : public SubmitHost {
 public:
  /// `expected_wait_s`: in the queue, on average. `clock` outlives the host.
  SimulatedHost(VirtualClock& clock, RehearsalOptions options, double expected_wait_s,
                NodePrices usd_per_node_hour);

  void run(std::vector<std::string> argv, std::string input, Then then) override;
  void poll() override;
  [[nodiscard]] bool busy() const override { return !answers_.empty(); }
  void wait_until(double deadline_s) override;
  [[nodiscard]] Result<void> open_folder(const std::string&) override { return {}; }
  [[nodiscard]] Result<std::filesystem::path> share_files(
      const std::map<std::string, std::string>&) override {
    return std::filesystem::path("/shared");
  }
  void remove_shared_files() override {}
  [[nodiscard]] Result<std::unique_ptr<Step>> start_step(const StepRequest& request) override;
  [[nodiscard]] std::vector<EarlierStep> find_steps() override { return {}; }
  [[nodiscard]] Result<void> set_lease(const std::string&, double) override { return {}; }
  [[nodiscard]] std::string holder_script(const std::string&) const override { return {}; }
  [[nodiscard]] bool holder_is_up(const std::string& allocation) const override;
  void forget_allocation(const std::string&) override {}

  [[nodiscard]] ClusterUse use() const { return use_; }

 private:
  struct Job {
    std::string name;
    int id = 0;
    int nodes = 1;
    double usd_per_hour = 0.0;  ///< of all its nodes
    double submitted_s = 0.0;
    double starts_s = 0.0;
    double limit_s = 0.0;
    bool started = false;
  };
  struct Answer {
    double due_s = 0.0;
    Then then;
    CommandResult result;
  };
  class SimulatedStep;
  struct StepState;

  [[nodiscard]] CommandResult answer_to(const std::vector<std::string>& argv);
  [[nodiscard]] std::string submit(const std::vector<std::string>& argv);
  [[nodiscard]] std::string list_jobs() const;
  void cancel(const std::string& id);
  void pass_to(double time_s);

  VirtualClock& clock_;
  RehearsalOptions options_;
  double expected_wait_s_;
  NodePrices usd_per_node_hour_;
  Rng rng_;
  std::list<Job> jobs_;
  std::deque<Answer> answers_;
  std::vector<std::shared_ptr<StepState>> steps_;
  int last_id_ = 0;
  ClusterUse use_;
};

}  // namespace steptune::slurm
