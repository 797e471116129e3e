// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trial_runner/hooks/hook_files.hpp"
#include "trial_runner/sagemaker/job_request.hpp"
#include "trial_runner/sagemaker/sagemaker_settings.hpp"

namespace steptune {
namespace {

using document::Faults;

/// Largest number of machine sets, and of configurations, to check. Each check takes about a
/// millisecond.
constexpr std::size_t k_most_checked = 64;

using Places = std::pair<std::string_view, std::string_view>;

/// Members of CreateTrainingJob and their keys in the study file. More specific members come first.
constexpr std::array<Places, 24> k_places = {{
    {"/RoleArn", "/runner/role"},
    {"/OutputDataConfig", "/runner/output"},
    {"/CheckpointConfig", "/runner/checkpoints"},
    {"/AlgorithmSpecification/TrainingImage", "/runner/image"},
    {"/AlgorithmSpecification/AlgorithmName", "/runner/algorithm"},
    {"/AlgorithmSpecification/TrainingInputMode", "/runner/input_mode"},
    {"/AlgorithmSpecification/ContainerEntrypoint", "/command"},
    {"/AlgorithmSpecification/ContainerArguments", "/command"},
    {"/VpcConfig/Subnets", "/runner/subnets"},
    {"/VpcConfig/SecurityGroupIds", "/runner/security_groups"},
    {"/Environment/STEPTUNE_FILES", "/config_files"},
    {"/Environment", "/env"},
    {"/HyperParameters", "/parameters"},
    {"/ResourceConfig/VolumeSizeInGB", "/runner/volume_gb"},
    {"/ResourceConfig/KeepAlivePeriodInSeconds", "/runner/keep_alive"},
    {"/ResourceConfig/InstanceGroups", "/runner/instance_groups"},
    {"/ResourceConfig/InstanceType", "/runner/instance_type"},
    {"/ResourceConfig/InstanceCount", "/runner/instance_count"},
    {"/StoppingCondition/MaxRuntimeInSeconds", "/limits/wall"},
    {"/StoppingCondition/MaxWaitTimeInSeconds", "/runner/max_wait"},
    {"/EnableManagedSpotTraining", "/runner/spot"},
    {"/Tags", "/runner/tags"},
    {"/AlgorithmSpecification", "/runner"},
    {"/ResourceConfig", "/runner"},
}};

bool is_within(std::string_view pointer, std::string_view place) {
  return pointer.starts_with(place) &&
         (pointer.size() == place.size() || pointer[place.size()] == '/');
}

std::string channel_place(const JobSettings& job, const Json& input, std::string_view pointer) {
  constexpr std::string_view k_list = "/InputDataConfig/";
  std::size_t index = 0;
  if (!pointer.starts_with(k_list)) return "/runner/channels";
  const std::string_view rest = pointer.substr(k_list.size());
  std::from_chars(rest.data(), rest.data() + rest.size(), index);
  const bool is_code = !job.code_s3_uri.empty() && index + 1 == input["InputDataConfig"].size();
  if (is_code) return "/runner/code";
  return "/runner/channels/" +
         document::pointer_token(input["InputDataConfig"][index]["ChannelName"].get<std::string>());
}

std::string study_place(const JobSettings& job, const Json& input, std::string_view pointer) {
  if (pointer.starts_with("/InputDataConfig")) return channel_place(job, input, pointer);
  for (const auto& [theirs, ours] : k_places) {
    if (!is_within(pointer, theirs)) continue;
    const bool named = ours == "/env" || ours == "/parameters";
    return fmt::format("{}{}", ours, named ? pointer.substr(theirs.size()) : "");
  }
  return "/runner";
}

class JobCheck {
 public:
  JobCheck(const SageMakerSection& section, const StudyView& study, Faults& faults)
      : job_(section.job), study_(study), faults_(faults) {
    // Ignore a missing hook, because another check reports it.
    const TrialSpec trial = study.trial(study.baseline);
    if (trial.python_path.empty()) return;
    if (const auto files = read_hook_files(trial.python_path, trial.environment)) {
      hook_ = packed_text(*files);
    }
  }

  void check(const Configuration& configuration, const Resources& resources) {
    TrialSpec trial = study_.trial(configuration);
    trial.resources = resources;
    const Json input = create_training_job_input(job_, {"job", trial, 0, {}, hook_});
    for (const document::Fault& fault : training_job_faults(input)) {
      std::string place = study_place(job_, input, fault.pointer);
      if (!reported_.insert({place, fault.message}).second) continue;
      faults_.add(std::move(place),
                  fmt::format("SageMaker would refuse the job: {}", fault.message));
    }
  }

 private:
  const JobSettings& job_;
  const StudyView& study_;
  std::string hook_;
  Faults& faults_;
  std::set<std::pair<std::string, std::string>> reported_;
};

void check_keep_alive(const SageMakerSection& section, const std::vector<Resources>& choices,
                      Faults& faults) {
  if (section.keep_alive_s.value_or(0.0) <= 0.0) return;
  if (section.job.spot) {
    faults.add("/runner/keep_alive",
               "managed spot cannot use warm pools: remove \"keep_alive\" or \"spot\"");
  } else if (!choices.empty() && std::ranges::all_of(choices, &Resources::heterogeneous)) {
    faults.add("/runner/keep_alive",
               "heterogeneous clusters cannot use warm pools, and every configuration needs such a "
               "cluster: remove \"keep_alive\"");
  }
}

}  // namespace

void check_training_jobs(const SageMakerSection& section, const StudyView& study, Faults& faults) {
  const auto choices = section.instances.choices(study).value_or(
      std::vector{section.instances.resources_of(study.baseline)});
  check_keep_alive(section, choices, faults);
  JobCheck jobs(section, study, faults);
  for (std::size_t i = 0; i < choices.size() && i < k_most_checked; ++i)
    jobs.check(study.baseline, choices[i]);
  for (const Configuration& example :
       study.examples.first(std::min(study.examples.size(), k_most_checked))) {
    jobs.check(example, section.instances.resources_of(example));
  }
}

}  // namespace steptune
