// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/jobs.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/exit_status.hpp"
#include "common/units.hpp"
#include "trial_runner/sagemaker/trial_pack.hpp"
#include "trial_runner/trial_name.hpp"

namespace steptune::simulated {
namespace {

std::vector<std::pair<std::string, int>> instances_of(const Json& resources) {
  std::vector<std::pair<std::string, int>> instances;
  if (!resources.contains("InstanceGroups")) {
    instances.emplace_back(resources.at("InstanceType").get<std::string>(),
                           resources.value("InstanceCount", 1));
    return instances;
  }
  for (const Json& group : resources["InstanceGroups"]) {
    instances.emplace_back(group.at("InstanceType").get<std::string>(),
                           group.value("InstanceCount", 1));
  }
  return instances;
}

}  // namespace

std::vector<TrialKey> ContainerRun::trials_ended_by(double time_s) const {
  std::vector<TrialKey> ended;
  double until_s = start_s;
  for (const SimulatedTrial& trial : trials) {
    until_s += trial.duration_s();
    if (until_s <= std::min(time_s, end_s.value_or(time_s))) ended.push_back(trial.key);
  }
  return ended;
}

SimulatedJob::SimulatedJob(Json input, double now_s, bool warm, AccountParts account)
    : input_(std::move(input)),
      name_(input_.at("TrainingJobName").get<std::string>()),
      warm_(warm),
      spot_(input_.value("EnableManagedSpotTraining", false)),
      instances_(instances_of(input_.at("ResourceConfig"))),
      account_(account),
      rng_(account.options.seed, "rehearsal_job/" + name_) {
  enter_starting(now_s);
}

double SimulatedJob::keep_alive_s() const {
  return input_.at("ResourceConfig").value("KeepAlivePeriodInSeconds", 0.0);
}

double SimulatedJob::with_jitter(double seconds) {
  return seconds * (1.0 + account_.options.stages.jitter * (2.0 * rng_.uniform() - 1.0));
}

double SimulatedJob::download_s() const {
  const auto mode = input_.at("AlgorithmSpecification").value("TrainingInputMode", "File");
  double longest_s = 0.0;
  for (const Json& channel : input_.value("InputDataConfig", Json::array())) {
    const auto found = account_.options.stages.download_s.find(channel.value("InputMode", mode));
    if (found != account_.options.stages.download_s.end()) {
      longest_s = std::max(longest_s, found->second);
    }
  }
  return longest_s;
}

void SimulatedJob::enter(Stage stage, const std::string& status, double now_s, double duration_s,
                         std::string message) {
  if (!transitions_.empty()) transitions_.back().end_s = now_s;
  transitions_.push_back({status, now_s, std::nullopt, std::move(message)});
  stage_ = stage;
  due_s_ = now_s + duration_s;
}

void SimulatedJob::enter_starting(double now_s) {
  const StageTimes& stages = account_.options.stages;
  double start_s = with_jitter(warm_ ? stages.warm_start_s : stages.cold_start_s);
  // A job on warm machines never lacks capacity.
  const auto fault = warm_ ? std::nullopt : account_.faults.for_job(name_, FaultKind::capacity);
  no_capacity_ = fault.has_value();
  if (fault) start_s += fault->after_s.value_or(0.0);
  enter(Stage::starting, "Starting", now_s, start_s, "Starting the training job");
}

void SimulatedJob::process_event() {
  const double now_s = due_s_;
  switch (stage_) {
    case Stage::starting:
      leave_starting();
      break;
    case Stage::downloading:
      enter(Stage::preparing, "Training", now_s,
            warm_ ? 0.0 : with_jitter(account_.options.stages.image_download_s),
            "Training image download completed. Training in progress.");
      break;
    case Stage::preparing:
      start_containers();
      break;
    case Stage::training:
      leave_training();
      break;
    case Stage::stopping: {
      end_containers(now_s, {});
      enter(Stage::uploading, "Uploading", now_s, ran_ ? account_.options.stages.upload_s : 0.0,
            "Uploading generated training model");
      break;
    }
    case Stage::uploading:
      finish(now_s);
      break;
    case Stage::over:
      break;
  }
}

void SimulatedJob::leave_starting() {
  const double now_s = due_s_;
  if (no_capacity_) {
    end_ = {"Failed", "Failed",
            "CapacityError: Unable to provision requested ML compute capacity. Please retry "
            "using a different ML instance type.",
            false};
    finish(now_s);
    return;
  }
  if (!training_start_s_) training_start_s_ = now_s;
  attempt_start_s_ = now_s;
  enter(Stage::downloading, "Downloading", now_s, with_jitter(download_s()),
        "Downloading input data");
}

std::vector<SimulatedTrial> SimulatedJob::trials() const {
  std::vector<SimulatedTrial> trials;
  for (const PackedTrial& packed : pack_of(input_.value("Environment", Json::object()))) {
    const std::string name = trial_name(packed.key);
    Json input = input_;
    input["HyperParameters"] =
        Json::parse(input_.at("HyperParameters").at(name).get<std::string>());
    input["Environment"][std::string(k_trial_variable)] = name;
    const Rng rng(account_.options.seed, fmt::format("rehearsal_output/{}/{}", name_, name),
                  static_cast<std::uint64_t>(runs_.size()));
    SimulatedTrial trial{packed.key, account_.program(input), packed.seconds, rng};
    if (packed.slow_limit) trial.apply_slow_limit(*packed.slow_limit);
    if (packed.idle_s) trial.apply_idle_limit(*packed.idle_s);
    trials.push_back(std::move(trial));
  }
  return trials;
}

void SimulatedJob::start_containers() {
  const double now_s = due_s_;
  const std::vector<SimulatedTrial> trials = this->trials();
  SimulatedProgram program;
  if (trials.empty()) {
    program = account_.program(input_);
  } else {
    // The pack's shell ends with status 0, even if trials fail.
    program = trials.front().program;
    program.exit_code = 0;
    program.failure.clear();
    program.ends_after_s = 0.0;
    for (const SimulatedTrial& trial : trials)
      *program.ends_after_s += trial.duration_s();
  }
  const auto attempt = static_cast<std::uint64_t>(runs_.size());
  runs_.push_back({program, now_s, std::nullopt, trials});
  ran_ = true;
  int host = 0;
  for (const auto& [type, count] : instances_) {
    for (int i = 0; i < count; ++i) {
      ++host;
      const auto epoch_ms = static_cast<std::int64_t>(now_s * 1000.0);
      const Rng rng(account_.options.seed, "rehearsal_output/" + name_, attempt);
      outputs_.push_back(&account_.logs.open(fmt::format("{}/algo-{}-{}", name_, host, epoch_ms),
                                             trials.empty()
                                                 ? SimulatedOutput(program, host == 1, now_s, rng)
                                                 : SimulatedOutput(trials, now_s, rng)));
    }
  }
  stage_ = Stage::training;
  exit_s_ = program.ends_after_s ? now_s + *program.ends_after_s : k_infinity;
  limit_s_ = now_s + input_.at("StoppingCondition").value("MaxRuntimeInSeconds", k_day_s);
  const auto time_of = [&](const std::optional<Fault>& fault) {
    return fault ? now_s + fault->after_s.value_or(5.0) : k_infinity;
  };
  internal_error_s_ = time_of(account_.faults.for_job(name_, FaultKind::internal));
  interruption_s_ =
      spot_ ? time_of(account_.faults.for_job(name_, FaultKind::spot_interruption)) : k_infinity;
  due_s_ = std::min({exit_s_, limit_s_, internal_error_s_, interruption_s_});
}

void SimulatedJob::leave_training() {
  const double now_s = due_s_;
  if (now_s >= internal_error_s_) {
    end_containers(now_s, {});
    end_ = {"Failed", "Failed",
            "InternalServerError: We encountered an internal error. Please try again.", false};
    enter(Stage::uploading, "Uploading", now_s, 0.0, "");
  } else if (now_s >= interruption_s_) {
    interrupt();
  } else if (now_s >= limit_s_) {
    end_ = {"Stopped", "MaxRuntimeExceeded", "", true};
    status_ = "Stopping";
    terminate_program(now_s);
  } else {
    end_ = end_of_program();
    end_containers(now_s, runs_.back().program.failure);
    enter(Stage::uploading, "Uploading", now_s,
          end_.status == "Failed" ? 0.0 : account_.options.stages.upload_s,
          "Uploading generated training model");
  }
}

void SimulatedJob::interrupt() {
  const double now_s = due_s_;
  end_containers(now_s, {});
  ran_ = false;
  billed_s_ += (now_s - *attempt_start_s_) * account_.options.spot_billed_share;
  attempt_start_s_.reset();
  enter(Stage::starting, "Interrupted", now_s, 0.0, "Interrupted: instances were reclaimed");
  const double wait_s = input_["StoppingCondition"].value("MaxWaitTimeInSeconds", 0.0);
  if (now_s - created_s() + account_.options.stages.cold_start_s > wait_s) {
    end_ = {"Stopped", "MaxWaitTimeExceeded", "", false};
    finish(now_s);
  } else {
    enter_starting(now_s);
  }
}

void SimulatedJob::end_containers(double now_s, const std::string& last_words) {
  if (outputs_.empty()) return;
  for (SimulatedOutput* output : outputs_)
    output->end(now_s, last_words);
  outputs_.clear();
  runs_.back().end_s = now_s;
}

void SimulatedJob::terminate_program(double now_s) {
  double ended_s = now_s;
  if (!outputs_.empty()) {
    // A stopped program ends `stop_s` after SIGTERM, or at SIGKILL after the grace period.
    const double stop_s =
        std::min(runs_.back().program.stop_s, account_.options.stages.stop_grace_s);
    ended_s = std::max(now_s, std::min(exit_s_, now_s + stop_s));
  }
  enter(
      Stage::stopping, "Stopping", now_s, ended_s - now_s,
      end_.secondary == "MaxRuntimeExceeded" ? "MaxRuntimeExceeded" : "Stopping the training job");
}

void SimulatedJob::stop(double now_s) {
  end_ = {"Stopped", "Stopped", "", training_start_s_.has_value()};
  status_ = "Stopping";
  terminate_program(now_s);
}

SimulatedJob::JobEnd SimulatedJob::end_of_program() const {
  const SimulatedProgram& program = runs_.back().program;
  if (program.exit_code == 0) return {"Completed", "Completed", "", true};
  std::string reason =
      program.exit_code == k_sigkill_status
          ? "ClientError: Please use an instance type with more memory, or reduce the size of job "
            "data processed on an instance."
          : fmt::format("AlgorithmError: {}, exit code: {}", program.failure, program.exit_code);
  // API Reference, DescribeTrainingJob: FailureReason has at most 1024 characters.
  if (reason.size() > 1024) reason.resize(1024);
  return {"Failed", "Failed", std::move(reason), true};
}

void SimulatedJob::finish(double now_s) {
  enter(Stage::over, end_.secondary, now_s, k_infinity,
        end_.status == "Completed" ? "Training job completed" : end_.reason);
  transitions_.back().end_s = now_s;
  status_ = end_.status;
  if (training_start_s_) training_end_s_ = now_s;
  if (attempt_start_s_) {
    billed_s_ += (now_s - *attempt_start_s_) * (spot_ ? account_.options.spot_billed_share : 1.0);
  }
}

}  // namespace steptune::simulated
