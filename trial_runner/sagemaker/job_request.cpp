// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/job_request.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "trial_runner/sagemaker/container_start.hpp"
#include "trial_runner/sagemaker/job_price.hpp"
#include "trial_runner/sagemaker/request_pieces.hpp"
#include "trial_runner/sagemaker/service_limits.hpp"
#include "trial_runner/sagemaker/trial_pack.hpp"
#include "trial_runner/trial_name.hpp"

namespace steptune {
namespace {

/// Returns the groups of `wanted` that the job has.
std::vector<std::string> present_groups(const std::vector<std::string>& wanted,
                                        const Resources& resources) {
  std::vector<std::string> present;
  for (const InstanceGroup& group : resources.groups) {
    if (std::ranges::find(wanted, group.name) != wanted.end()) present.push_back(group.name);
  }
  return present;
}

/// Returns a channel for the folder with the program. Every instance copies the folder before the
/// program starts.
Channel code_channel(const JobSettings& settings, const Resources& resources) {
  Channel code{.name = "code", .s3_uri = settings.code_s3_uri, .input_mode = "File"};
  // Without the slash, the prefix would also match folders whose names begin with it.
  if (!code.s3_uri.ends_with('/')) code.s3_uri += '/';
  const bool grouped = std::ranges::any_of(
      settings.channels, [](const Channel& channel) { return !channel.instance_groups.empty(); });
  for (const InstanceGroup& group : resources.groups) {
    if (grouped) code.instance_groups.push_back(group.name);
  }
  return code;
}

Json channel_input(const Channel& channel, const std::vector<std::string>& groups) {
  Json source;
  if (channel.s3_uri.empty()) {
    source["FileSystemDataSource"] = {{"FileSystemId", channel.file_system_id},
                                      {"FileSystemType", channel.file_system_type},
                                      {"FileSystemAccessMode", "ro"},
                                      {"DirectoryPath", channel.directory_path}};
  } else {
    source["S3DataSource"] = {{"S3DataType", "S3Prefix"},
                              {"S3Uri", channel.s3_uri},
                              {"S3DataDistributionType", "FullyReplicated"}};
    if (!groups.empty()) source["S3DataSource"]["InstanceGroupNames"] = groups;
  }
  Json input = {{"ChannelName", channel.name}, {"DataSource", source}};
  if (!channel.input_mode.empty()) input["InputMode"] = channel.input_mode;
  if (!channel.content_type.empty()) input["ContentType"] = channel.content_type;
  return input;
}

Json algorithm(const JobSettings& settings, const std::vector<std::string>& words) {
  Json specification = {{"TrainingInputMode", settings.input_mode}};
  if (settings.algorithm_name.empty()) {
    specification["TrainingImage"] = settings.image;
  } else {
    specification["AlgorithmName"] = settings.algorithm_name;
  }
  if (!words.empty()) {
    specification["ContainerEntrypoint"] = Json::array({words.front()});
    if (words.size() > 1) {
      specification["ContainerArguments"] =
          std::vector<std::string>(words.begin() + 1, words.end());
    }
  }
  return specification;
}

ContainerStart start_of_job(const JobSettings& settings, const JobRequest& request) {
  const bool in_code_channel = !settings.code_s3_uri.empty();
  const TrialSpec& trial = request.trial;
  if (!request.pack.empty()) {
    ContainerStart start = pack_start(request.pack, in_code_channel);
    if (!trial.python_path.empty()) add_carried_hook(request.hook, trial.argv, {}, start);
    return start;
  }
  ContainerProgram program{trial.argv,   trial.environment, trial.configuration,
                           trial.launch, trial.files,       in_code_channel};
  if (!trial.python_path.empty()) program.hook = request.hook;
  ContainerStart start = container_start(program);
  // This variable announces to reporters that a tuner reads their output.
  start.environment[std::string(k_trial_variable)] = trial_name(trial.key);
  return start;
}

std::int64_t whole_seconds(double seconds) {
  return static_cast<std::int64_t>(std::ceil(seconds));
}

}  // namespace

Json machine_members(const Resources& resources) {
  if (!resources.heterogeneous()) {
    return {{"InstanceType", resources.instance_type}, {"InstanceCount", resources.instance_count}};
  }
  Json members;
  for (const InstanceGroup& group : resources.groups) {
    members["InstanceGroups"].push_back({{"InstanceGroupName", group.name},
                                         {"InstanceType", group.instance_type},
                                         {"InstanceCount", group.instance_count}});
  }
  return members;
}

Json create_training_job_input(const JobSettings& settings, const JobRequest& request) {
  const ContainerStart start = start_of_job(settings, request);
  const Resources& resources = request.trial.resources;
  Json input = {{"TrainingJobName", request.name},
                {"RoleArn", settings.role_arn},
                {"AlgorithmSpecification", algorithm(settings, start.words)},
                {"OutputDataConfig", {{"S3OutputPath", settings.output_s3_uri}}},
                {"ResourceConfig", machine_members(resources)}};
  input["ResourceConfig"]["VolumeSizeInGB"] = settings.volume_gb;
  if (request.keep_alive_s > 0) {
    input["ResourceConfig"]["KeepAlivePeriodInSeconds"] = request.keep_alive_s;
  }
  input["StoppingCondition"] = {{"MaxRuntimeInSeconds", whole_seconds(settings.max_runtime_s)}};
  if (settings.spot) {
    input["EnableManagedSpotTraining"] = true;
    input["StoppingCondition"]["MaxWaitTimeInSeconds"] = whole_seconds(settings.max_wait_s);
  }
  if (!start.hyperparameters.empty()) input["HyperParameters"] = start.hyperparameters;
  input["Environment"] = start.environment;
  Json& environment = input["Environment"];
  environment.emplace("PYTHONUNBUFFERED", "1");
  const auto parts = price_parts_of(settings.price_parts, resources);
  // Without room for a further variable, leave the price out, because SageMaker would refuse the
  // job. Only lists of machines need the price.
  if (parts && environment.size() < k_most_members) {
    JobPrice price{*parts};
    if (settings.spot) price.spot_share = settings.spot_share;
    environment[k_price_variable] = to_text(price);
  }
  std::vector<Channel> channels = settings.channels;
  if (!settings.code_s3_uri.empty()) channels.push_back(code_channel(settings, resources));
  for (const Channel& channel : channels) {
    const auto groups = present_groups(channel.instance_groups, resources);
    const bool of_absent_groups =
        resources.heterogeneous() && !channel.instance_groups.empty() && groups.empty();
    if (!of_absent_groups) input["InputDataConfig"].push_back(channel_input(channel, groups));
  }
  if (!settings.checkpoint_s3_uri.empty()) {
    input["CheckpointConfig"] = {{"S3Uri", settings.checkpoint_s3_uri + "/" + request.name}};
  }
  if (!settings.subnets.empty()) {
    input["VpcConfig"] = {{"Subnets", settings.subnets},
                          {"SecurityGroupIds", settings.security_group_ids}};
  }
  if (settings.network_isolation) input["EnableNetworkIsolation"] = true;
  if (settings.encrypt_traffic) input["EnableInterContainerTrafficEncryption"] = true;
  // The profiler would start processing jobs, which cost money.
  input["ProfilerConfig"] = {{"DisableProfiler", true}};
  for (const auto& [key, value] : settings.tags) {
    input["Tags"].push_back({{"Key", key}, {"Value", value}});
  }
  return input;
}

}  // namespace steptune
