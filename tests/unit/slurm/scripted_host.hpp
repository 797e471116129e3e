// SPDX-License-Identifier: Apache-2.0
//
// A machine whose Slurm gives a test's answers at once.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/clock.hpp"
#include "trial_runner/slurm/submit_host.hpp"

namespace steptune::slurm {

/// A job in the scripted queue. Times are seconds since 1970.
struct ListedJob {
  std::string name;
  std::string id = "100";
  std::string state = "PENDING";
  std::string reason = "Resources";
  std::optional<double> start_wall_s{};
  std::optional<double> end_wall_s{};
  std::optional<double> submit_wall_s{};
  int nodes = 1;
};

class ScriptedHost final : public SubmitHost {
 public:
  explicit ScriptedHost(VirtualClock& clock) : clock_(clock) {}

  // Answers.
  std::vector<ListedJob> queue;
  CommandResult submission{0, false, "100\n", ""};
  std::optional<CommandResult> listing;  ///< used instead of the queue's list
  bool is_writable = true;
  std::set<std::string> up;  ///< placeholders that have reported that they run

  // Requests.
  std::vector<std::vector<std::string>> commands;
  std::map<std::string, double> leases;  ///< by allocation
  std::set<std::string> forgotten;

  [[nodiscard]] int count(const std::string& command) const {
    return static_cast<int>(
        std::ranges::count_if(commands, [&](const auto& argv) { return argv.front() == command; }));
  }

  void run(std::vector<std::string> argv, std::string, Then then) override {
    const CommandResult result = answer(argv.front());
    commands.push_back(std::move(argv));
    waiting_.emplace_back(std::move(then), result);
  }
  void poll() override {
    for (auto& [then, result] : std::exchange(waiting_, {}))
      then(result);
  }
  [[nodiscard]] bool busy() const override { return !waiting_.empty(); }
  void wait_until(double deadline_s) override {
    clock_.advance_to(deadline_s);
    poll();
  }
  Result<void> open_folder(const std::string&) override { return {}; }
  Result<std::filesystem::path> share_files(const std::map<std::string, std::string>&) override {
    return std::filesystem::path("/shared");
  }
  void remove_shared_files() override {}
  Result<std::unique_ptr<Step>> start_step(const StepRequest&) override {
    return fail(ErrorKind::internal, "no steps here");
  }
  std::vector<EarlierStep> find_steps() override { return {}; }
  Result<void> set_lease(const std::string& allocation, double until_wall_s) override {
    if (!is_writable) return fail(ErrorKind::runner, "cannot write the lease", allocation);
    leases[allocation] = until_wall_s;
    return {};
  }
  [[nodiscard]] std::string holder_script(const std::string&) const override { return "#!/bin/sh"; }
  [[nodiscard]] std::optional<std::string> node_cpus(const std::string& allocation) const override {
    return up.contains(allocation) ? std::optional<std::string>("") : std::nullopt;
  }
  void forget_allocation(const std::string& allocation) override { forgotten.insert(allocation); }

 private:
  [[nodiscard]] CommandResult answer(const std::string& command) const {
    if (command == "sbatch") return submission;
    if (command != "squeue") return {};
    if (listing) return *listing;
    const auto time = [](const std::optional<double>& wall_s) {
      return wall_s ? fmt::format("{:.0f}", *wall_s) : "N/A";
    };
    std::string text =
        "JOBID|STATE|REASON|START_TIME|END_TIME|SUBMIT_TIME|NODES|CPUS|NODELIST|NAME\n";
    for (const ListedJob& job : queue) {
      text += fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|n1|{}\n", job.id, job.state, job.reason,
                          time(job.start_wall_s), time(job.end_wall_s), time(job.submit_wall_s),
                          job.nodes, 64 * job.nodes, job.name);
    }
    return {0, false, text, ""};
  }

  VirtualClock& clock_;
  std::vector<std::pair<Then, CommandResult>> waiting_;
};

}  // namespace steptune::slurm
