// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trial_runner/slurm/submit_host.hpp"
#include "trial_runner/slurm/virtual_cluster.hpp"

namespace steptune::slurm {

/// A step of a simulated job, and the output of its programs.
struct VirtualCluster::StepState {
  StepRequest request;
  VirtualProgram program;
  int job = 0;
  int number = 0;
  double launched_s = 0.0;
  bool begun = false;
  bool got_sigterm = false;
  std::optional<double> ends_s;
  std::optional<int> srun_status;
  bool forgotten = false;
  double next_report_s = 0.0;
  double steps = 0.0;  ///< steps reported so far
  std::vector<OutputChunk> output;

  [[nodiscard]] double starts_s() const { return launched_s + program.starts_after_s; }
  [[nodiscard]] double first_report_s() const;
  /// Prints the report that is due at `next_report_s`, and advances `next_report_s`.
  void report();
  [[nodiscard]] int tasks_that_run() const {
    return program.tasks_that_start.value_or(request.tasks);
  }
  void print(double time_s, std::string text) { output.push_back({time_s, std::move(text)}); }
  void mark(double time_s, const std::string& text);
  /// Ends all tasks with the same status. Without a status, they print no mark of their end.
  void end(double time_s, std::optional<int> status);

 private:
  /// Returns the number of steps between reports.
  [[nodiscard]] double steps_a_report() const;
  [[nodiscard]] double seconds_a_report() const;
  /// Returns the number of samples in a step; nullopt: the program reports only steps.
  [[nodiscard]] std::optional<double> samples_per_step() const;
};

/// Access of a tuner to a simulated step.
class VirtualCluster::VirtualStep final : public Step {
 public:
  VirtualStep(VirtualCluster& cluster, std::shared_ptr<StepState> state)
      : cluster_(cluster), state_(std::move(state)) {}

  [[nodiscard]] std::vector<OutputChunk> read() override {
    const auto from = state_->output.begin() + static_cast<std::ptrdiff_t>(read_);
    read_ = state_->output.size();
    return {from, state_->output.end()};
  }
  [[nodiscard]] std::optional<StepEnd> end() override {
    if (!state_->srun_status || read_ < state_->output.size()) return std::nullopt;
    return StepEnd{state_->srun_status, {}, state_->ends_s};
  }
  void kill() override { state_->end(cluster_.clock_.now_s(), std::nullopt); }
  void forget() override { state_->forgotten = true; }

 private:
  VirtualCluster& cluster_;
  std::shared_ptr<StepState> state_;
  std::size_t read_ = 0;
};

}  // namespace steptune::slurm
