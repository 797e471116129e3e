// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "trial_runner/slurm/queue.hpp"
#include "trial_runner/slurm/virtual_cluster.hpp"
#include "trial_runner/slurm/virtual_step.hpp"

namespace steptune::slurm {
namespace {

/// Duration of a command while the controller does not answer.
constexpr double k_away_command_s = 9.0;

}  // namespace

/// Access of one tuner to the simulated cluster. A restarted tuner gets a new object.
class VirtualHost final : public SubmitHost {
 public:
  explicit VirtualHost(VirtualCluster& cluster) : cluster_(cluster) {}

  void run(std::vector<std::string> argv, std::string /*input*/, Then then) override {
    const double now_s = cluster_.clock_.now_s();
    cluster_.commands_.emplace_back(now_s, argv);
    if (cluster_.is_away(now_s)) {
      answers_.push_back({now_s + k_away_command_s,
                          std::move(then),
                          {1, false, {}, "slurm: error: Unable to contact slurm controller\n"}});
      return;
    }
    auto refused = cluster_.refuse ? cluster_.refuse(argv) : std::nullopt;
    CommandResult result = refused ? *std::move(refused) : cluster_.obey(argv);
    double takes_s = 0.03;  // typical duration of a command of Slurm
    if (cluster_.lose_answer) {
      if (auto lost = cluster_.lose_answer(argv)) {
        result = *std::move(lost);
        takes_s = k_away_command_s;
      }
    }
    answers_.push_back({now_s + takes_s, std::move(then), std::move(result)});
  }
  void poll() override {
    const auto is_due = [this](const Answer& answer) {
      return answer.due_s <= cluster_.clock_.now_s();
    };
    for (auto due = std::ranges::find_if(answers_, is_due); due != answers_.end();
         due = std::ranges::find_if(answers_, is_due)) {
      const Answer answer = std::move(*due);
      answers_.erase(due);
      answer.then(answer.result);
    }
  }
  [[nodiscard]] bool busy() const override { return !answers_.empty(); }
  void wait_until(double deadline_s) override {
    double until_s = deadline_s;
    for (const Answer& answer : answers_)
      until_s = std::min(until_s, answer.due_s);
    until_s = std::min(until_s, cluster_.next_training_report_s());
    cluster_.pass_to(std::max(until_s, cluster_.clock_.now_s() + 1e-3));
    poll();
  }
  [[nodiscard]] Result<void> open_folder(const std::string& /*prefix*/) override { return {}; }
  [[nodiscard]] Result<std::filesystem::path> share_files(
      const std::map<std::string, std::string>& /*files*/) override {
    return std::filesystem::path("/shared");
  }
  void remove_shared_files() override {}
  [[nodiscard]] Result<std::unique_ptr<Step>> start_step(const StepRequest& request) override {
    auto state = std::make_shared<VirtualCluster::StepState>();
    state->request = request;
    state->program = cluster_.program(request);
    state->job = leading_number(request.job_id);
    state->launched_s = cluster_.clock_.now_s();
    state->number = static_cast<int>(cluster_.steps_.size());
    cluster_.steps_.push_back(state);
    return std::make_unique<VirtualCluster::VirtualStep>(cluster_, std::move(state));
  }
  [[nodiscard]] std::vector<EarlierStep> find_steps() override {
    std::vector<EarlierStep> found;
    for (const auto& state : cluster_.steps_) {
      if (state->forgotten) continue;
      EarlierStep former;
      former.request = state->request;
      former.step = std::make_unique<VirtualCluster::VirtualStep>(cluster_, state);
      found.push_back(std::move(former));
    }
    return found;
  }
  [[nodiscard]] Result<void> set_lease(const std::string& allocation,
                                       double until_wall_s) override {
    const double now_s = cluster_.clock_.now_s();
    for (const auto& [from_s, to_s] : cluster_.unwritable_times) {
      if (now_s >= from_s && now_s < to_s) return fail(ErrorKind::runner, "cannot write the lease");
    }
    cluster_.leases_[allocation] = until_wall_s;
    return {};
  }
  [[nodiscard]] std::string holder_script(const std::string& /*allocation*/) const override {
    return {};
  }
  [[nodiscard]] std::optional<std::string> node_cpus(const std::string& allocation) const override {
    const bool is_up = std::ranges::any_of(cluster_.jobs_, [&](const VirtualJob& job) {
      return job.name == allocation && job.runs();
    });
    return is_up ? std::optional<std::string>("") : std::nullopt;
  }
  void forget_allocation(const std::string& allocation) override {
    cluster_.leases_.erase(allocation);
  }

 private:
  struct Answer {
    double due_s = 0.0;
    Then then;
    CommandResult result;
  };
  VirtualCluster& cluster_;
  std::deque<Answer> answers_;
};

std::unique_ptr<SubmitHost> VirtualCluster::make_host() {
  return std::make_unique<VirtualHost>(*this);
}

}  // namespace steptune::slurm
