// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/sagemaker_section.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/study/cluster_section.hpp"
#include "tuner/study/study_keys.hpp"

namespace steptune::study {
namespace {

using document::ObjectNode;

constexpr std::size_t k_max_list = 16;
constexpr std::size_t k_max_channels = 20;
constexpr std::size_t k_max_tags = 50;
/// StoppingCondition: 28 days.
constexpr double k_max_wait_s = 28.0 * 86'400.0;
/// ResourceConfig/KeepAlivePeriodInSeconds.
constexpr double k_max_keep_alive_s = 21'600.0;

void read_string(const ObjectNode& object, std::string_view key, std::string& out) {
  const auto node = object.find(key);
  if (!node) return;
  out = node->string().value_or("");
  if (node->json().is_string() && node->json() == "") node->fault("is empty; remove the key");
}

void require_string(const ObjectNode& object, std::string_view key, std::string& out) {
  if (object.require(key)) read_string(object, key, out);
}

std::vector<std::string> read_strings(const ObjectNode& object, std::string_view key,
                                      std::size_t most) {
  std::vector<std::string> strings;
  const auto node = object.find(key);
  if (!node) return strings;
  for (const Node& element : node->elements(most))
    strings.push_back(element.string().value_or(""));
  return strings;
}

bool is_region(std::string_view text) {
  return !text.empty() && text.size() <= 40 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

std::string read_region(const ObjectNode& object) {
  std::string region;
  read_string(object, "region", region);
  if (!region.empty() && !is_region(region)) {
    object.find("region")->fault(
        fmt::format("\"{}\" is not a region such as us-east-1", printable_line(region, 60)));
    return {};
  }
  return region;
}

void read_file_system(const ObjectNode& object, Channel& channel) {
  read_string(object, "file_system", channel.file_system_id);
  read_string(object, "path", channel.directory_path);
  object.read_name("file_system_type", channel.file_system_type, names::k_file_systems);
  const bool s3 = object.has("s3");
  if (s3 == object.has("file_system")) {
    object.node().fault("give \"s3\", an S3 URI, or \"file_system\", the id of an EFS or FSx one");
    return;
  }
  for (const char* key : {"file_system_type", "path"}) {
    if (s3 && object.has(key)) {
      object.find(key)->fault("belongs to a \"file_system\", but the channel is in S3");
    } else if (!s3) {
      static_cast<void>(object.require(key));
    }
  }
}

Channel read_channel(const std::string& name, const Node& node,
                     const std::vector<InstancesSpec>& instances) {
  Channel channel;
  channel.name = name;
  if (node.json().is_string()) {
    channel.s3_uri = node.string().value_or("");
    return channel;
  }
  const ObjectNode object(node, "an S3 URI, or an object such as {\"s3\": \"s3://bucket/train/\"}",
                          keys::k_channel);
  read_string(object, "s3", channel.s3_uri);
  object.read_name("input_mode", channel.input_mode, names::k_input_modes);
  read_string(object, "content_type", channel.content_type);
  read_file_system(object, channel);
  channel.instance_groups = read_strings(object, "instance_groups", k_max_list);
  std::vector<std::string> known;
  for (const InstancesSpec& part : instances) {
    if (!part.group.empty()) known.push_back(part.group);
  }
  for (std::size_t i = 0; i < channel.instance_groups.size(); ++i) {
    const std::string& group = channel.instance_groups[i];
    if (std::ranges::find(known, group) != known.end()) continue;
    node.faults().add(fmt::format("{}/instance_groups/{}", node.pointer(), i),
                      fmt::format("there is no instance group \"{}\"{}", printable_line(group, 60),
                                  did_you_mean(group, known)));
  }
  return channel;
}

void read_job(const ObjectNode& object, const std::vector<InstancesSpec>& instances,
              JobSettings& job) {
  require_string(object, "role", job.role_arn);
  read_string(object, "image", job.image);
  read_string(object, "algorithm", job.algorithm_name);
  if (object.has("image") == object.has("algorithm")) {
    object.node().fault("give \"image\", a container image, or \"algorithm\", an algorithm's name");
  }
  object.read_name("input_mode", job.input_mode, names::k_input_modes);
  if (const auto channels = object.find("channels")) {
    for (const auto& [name, child] :
         channels->members("an object of input channels by name", k_max_channels)) {
      job.channels.push_back(read_channel(name, child, instances));
    }
  }
  require_string(object, "output", job.output_s3_uri);
  read_string(object, "checkpoints", job.checkpoint_s3_uri);
  while (job.checkpoint_s3_uri.ends_with('/'))
    job.checkpoint_s3_uri.pop_back();
  read_string(object, "code", job.code_s3_uri);
  job.subnets = read_strings(object, "subnets", k_max_list);
  job.security_group_ids = read_strings(object, "security_groups", k_max_list);
  if (job.subnets.empty() != job.security_group_ids.empty()) {
    object.node().fault(
        "\"subnets\" and \"security_groups\" belong together: give both or neither");
  }
  if (const auto tags = object.find("tags")) {
    for (const auto& [name, child] : tags->members("an object of tags by name", k_max_tags)) {
      job.tags[name] = child.string().value_or("");
    }
  }
  object.read_integer("volume_gb", job.volume_gb, {1.0, 16'384.0});
  object.read_boolean("network_isolation", job.network_isolation);
  object.read_boolean("encrypt_traffic", job.encrypt_traffic);
}

void read_spot(const ObjectNode& object, SageMakerSpec& spec) {
  object.read_boolean("spot", spec.settings.spot);
  object.read_number("spot_share", spec.spot_share, {0.01, 1.0});
  object.read_duration_s("max_wait", spec.settings.max_wait_s, {1.0, k_max_wait_s});
  for (const char* key : {"spot_share", "max_wait"}) {
    if (object.has(key) && !spec.settings.spot) {
      object.find(key)->fault("only managed spot has one: give \"spot\": true as well");
    }
  }
  object.read_duration_s("keep_alive", spec.keep_alive_s, {0.0, k_max_keep_alive_s});
  object.read_duration_s("poll", spec.poll_s, {0.1, 60.0});
}

}  // namespace

RunnerSpec read_sagemaker(const Node& node) {
  RunnerSpec runner;
  runner.type = "sagemaker";
  const ObjectNode object(node, "an object", keys::k_sagemaker_runner);
  runner.sagemaker.region = read_region(object);
  runner.cluster = read_cluster(object, runner.sagemaker.region);
  if (!object.has("instance_type") && !object.has("instance_groups")) {
    node.fault(
        "give \"instance_type\", such as \"ml.g5.xlarge\" or \"{instance}\", or "
        "\"instance_groups\"");
  }
  object.read_integer("parallel", runner.parallel, {1.0, 1024.0});
  read_job(object, runner.cluster.instances, runner.sagemaker.settings);
  read_spot(object, runner.sagemaker);
  return runner;
}

void settle_sagemaker_times(const Node& runner, double wall_limit_s, RunnerSpec& spec) {
  JobSettings& job = spec.sagemaker.settings;
  job.max_runtime_s = wall_limit_s;
  if (!job.spot) return;
  const bool stated = runner.json().is_object() && runner.json().contains("max_wait");
  if (!stated) job.max_wait_s = std::min(2.0 * wall_limit_s, k_max_wait_s);
  if (job.max_wait_s >= wall_limit_s) return;
  runner.faults().add(
      runner.pointer() + "/max_wait",
      fmt::format("a job may wait and run for {} in all, but run for {} (\"wall\" in \"limits\"): "
                  "spot must be allowed to wait at least as long as it may run",
                  format_duration(job.max_wait_s), format_duration(wall_limit_s)));
}

}  // namespace steptune::study
