// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/simulated_host.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "trial_runner/cost/usage_cost.hpp"
#include "trial_runner/slurm/need.hpp"

namespace steptune::slurm {
namespace {

/// As measured on a small cluster: a command, a step's start, its end on request.
constexpr double k_command_s = 0.03;
constexpr double k_step_start_s = 0.06;
constexpr double k_step_end_s = 0.1;
/// A prologue, and the scheduler's next round.
constexpr double k_least_wait_s = 1.0;
constexpr double k_step_noise = 0.03;
/// Reporters print a few lines a second, however fast the steps are.
constexpr double k_least_report_s = 0.25;

std::string_view value_of(const std::vector<std::string>& argv, std::string_view option) {
  for (const std::string& word : argv) {
    if (word.starts_with(option)) return std::string_view(word).substr(option.size());
  }
  return {};
}

int number_of(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

/// A step's program: prints at times that are known in advance, until it is ended.
struct SimulatedHost::StepState {
  int job = 0;
  double usd_per_hour = 0.0;  ///< of its job's nodes
  int tasks = 1;
  std::string mark;
  SimulatedTraining training;
  double started_s = 0.0;
  double next_line_s = 0.0;
  double steps_done = 0.0;
  double read_until_s = -1.0;
  std::optional<double> ends_s;
  double pace = 1.0;

  /// What it prints until `time_s`.
  std::vector<OutputChunk> print_until(double time_s) {
    std::vector<OutputChunk> chunks;
    const double last_s = std::min(time_s, ends_s.value_or(time_s));
    if (read_until_s < started_s && last_s >= started_s) {
      for (int task = 0; task < tasks; ++task) {
        chunks.push_back({started_s, fmt::format("\x1esteptune {} start {} n{} {}.0 ;\n", mark,
                                                 task, task + 1, job)});
      }
      read_until_s = started_s;
    }
    const double step_s = std::max(1e-6, training.step_s * pace);
    const double steps_a_line = std::max(1.0, std::ceil(k_least_report_s / step_s));
    while (next_line_s <= last_s) {
      steps_done += steps_a_line;
      chunks.push_back(
          {next_line_s,
           fmt::format("[steptune] {{\"v\":1,\"step\":{},\"samples\":{},\"clock\":{}}}\n",
                       steps_done, steps_done * training.samples_per_step,
                       next_line_s - started_s)});
      next_line_s += steps_a_line * step_s;
    }
    return chunks;
  }
};

class SimulatedHost::SimulatedStep final : public Step {
 public:
  SimulatedStep(const Clock& clock, std::shared_ptr<StepState> state)
      : clock_(clock), state_(std::move(state)) {}
  [[nodiscard]] std::vector<OutputChunk> read() override {
    return state_->print_until(clock_.now_s());
  }
  [[nodiscard]] std::optional<StepEnd> end() override {
    if (!state_->ends_s || clock_.now_s() < *state_->ends_s) return std::nullopt;
    constexpr int k_terminated = 143;
    return StepEnd{k_terminated, {}};
  }
  void kill() override {
    if (!state_->ends_s) state_->ends_s = clock_.now_s() + k_step_end_s;
  }
  void forget() override {}

 private:
  const Clock& clock_;
  std::shared_ptr<StepState> state_;
};

SimulatedHost::SimulatedHost(VirtualClock& clock, RehearsalOptions options, double expected_wait_s,
                             NodePrices usd_per_node_hour)
    : clock_(clock),
      options_(std::move(options)),
      expected_wait_s_(expected_wait_s),
      usd_per_node_hour_(std::move(usd_per_node_hour)),
      rng_(options_.seed, "slurm rehearsal") {}

void SimulatedHost::run(std::vector<std::string> argv, std::string /*input*/, Then then) {
  answers_.push_back({clock_.now_s() + k_command_s, std::move(then), answer_to(argv)});
}

CommandResult SimulatedHost::answer_to(const std::vector<std::string>& argv) {
  CommandResult result;
  if (argv.front() == "sbatch") {
    result.out = submit(argv);
  } else if (argv.front() == "squeue") {
    result.out = list_jobs();
  } else {
    cancel(argv.back());
  }
  return result;
}

std::string SimulatedHost::submit(const std::vector<std::string>& argv) {
  Job job;
  job.id = ++last_id_;
  job.name = value_of(argv, "--job-name=");
  job.nodes = number_of(value_of(argv, "--nodes="));
  job.limit_s =
      time_limit_s(value_of(argv, "--time=")).value_or(std::numeric_limits<double>::infinity());
  Need need;
  for (const std::string& word : argv) {
    if (word.starts_with("--")) need.options.push_back(word.substr(2));
  }
  job.usd_per_hour = job.nodes * usd_per_node_hour_.of(need).value_or(0.0);
  job.submitted_s = clock_.now_s();
  // An exponential wait: often short, sometimes long, as queues are.
  job.starts_s = job.submitted_s + k_least_wait_s -
                 expected_wait_s_ * std::log(1.0 - std::min(rng_.uniform(), 0.999));
  jobs_.push_back(std::move(job));
  return fmt::format("{}\n", last_id_);
}

std::string SimulatedHost::list_jobs() const {
  std::string text = "JOBID|STATE|\n";
  const double to_wall_s = clock_.wall_time_s() - clock_.now_s();
  for (const Job& job : jobs_) {
    text += fmt::format("{}|{}|None|{:.0f}|{:.0f}|{:.0f}|{}|{}|{}|{}\n", job.id,
                        job.started ? "RUNNING" : "PENDING", to_wall_s + job.starts_s,
                        to_wall_s + job.starts_s + job.limit_s, to_wall_s + job.submitted_s,
                        job.nodes, job.nodes, "n1", job.name);
  }
  return text;
}

void SimulatedHost::cancel(const std::string& id) {
  const bool whole_job = id.find('.') == std::string::npos;
  for (const auto& step : steps_) {
    if (step->job == number_of(id) && !step->ends_s) step->ends_s = clock_.now_s() + k_step_end_s;
  }
  if (!whole_job) return;
  jobs_.remove_if([&](const Job& job) { return job.id == number_of(id); });
}

void SimulatedHost::pass_to(double time_s) {
  const double before_s = clock_.now_s();
  clock_.advance_to(time_s);
  for (Job& job : jobs_) {
    if (!job.started && job.starts_s <= time_s) {
      job.started = true;
      ++use_.allocations;
    }
    if (job.started) {
      const double held_s = time_s - std::clamp(job.starts_s, before_s, time_s);
      use_.held_node_s += job.nodes * held_s;
      use_.held_usd += usage_usd(job.usd_per_hour, held_s);
    }
  }
  std::erase_if(steps_, [&](const auto& step) {
    const double end_s = step->ends_s.value_or(time_s);
    use_.step_usd +=
        usage_usd(step->usd_per_hour,
                  std::max(0.0, std::min(end_s, time_s) - std::max(step->started_s, before_s)));
    return end_s < time_s;
  });
}

void SimulatedHost::poll() {
  while (!answers_.empty() && answers_.front().due_s <= clock_.now_s()) {
    const Answer answer = std::move(answers_.front());
    answers_.pop_front();
    answer.then(answer.result);
  }
}

void SimulatedHost::wait_until(double deadline_s) {
  double next_s = deadline_s;
  if (!answers_.empty()) next_s = std::min(next_s, answers_.front().due_s);
  for (const Job& job : jobs_) {
    if (!job.started) next_s = std::min(next_s, job.starts_s);
  }
  for (const auto& step : steps_)
    next_s = std::min(next_s, std::min(step->next_line_s, step->ends_s.value_or(next_s)));
  pass_to(std::max(next_s, clock_.now_s() + 1e-3));
  poll();
}

Result<std::unique_ptr<Step>> SimulatedHost::start_step(const StepRequest& request) {
  auto state = std::make_shared<StepState>();
  state->job = number_of(request.job_id);
  const auto job = std::ranges::find(jobs_, state->job, &Job::id);
  if (job != jobs_.end()) state->usd_per_hour = job->usd_per_hour;
  state->tasks = request.tasks;
  state->mark = request.mark_word;
  state->training = options_.training(request.values);
  state->started_s = clock_.now_s() + k_step_start_s;
  state->next_line_s = state->started_s + state->training.startup_s;
  state->pace = 1.0 + k_step_noise * (2.0 * rng_.uniform() - 1.0);
  steps_.push_back(state);
  ++use_.steps;
  return std::make_unique<SimulatedStep>(clock_, std::move(state));
}

bool SimulatedHost::holder_is_up(const std::string& allocation) const {
  const auto job = std::ranges::find(jobs_, allocation, &Job::name);
  return job != jobs_.end() && job->started;
}

}  // namespace steptune::slurm
