// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/instances/instance_keys.hpp"
#include "trial_runner/kind_key.hpp"
#include "trial_runner/sagemaker/account_services.hpp"
#include "trial_runner/sagemaker/sagemaker_settings.hpp"
#include "trial_runner/sagemaker/section_types.hpp"
#include "trial_runner/sagemaker/service_limits.hpp"
#include "trial_runner/section_limits.hpp"

namespace steptune {
namespace {

using document::InFingerprint;
using document::Key;
using document::Node;
using document::ObjectNode;
using document::Section;
using document::Type;
using document::Writing;

using Jobs = Section<SageMakerSection>;

template <typename M, typename V>
Key<SageMakerSection> job_key(std::string name, M JobSettings::*member, Type<V> type,
                              const char* doc) {
  return document::key(std::move(name), member, std::move(type))
      .doc(doc)
      .of(&SageMakerSection::job);
}

/// Returns a key that is written only if the study uses spot.
Key<SageMakerSection> only_with_spot(const Key<SageMakerSection>& key, const char* default_words,
                                     InFingerprint in_fingerprint) {
  Key<SageMakerSection> conditional(
      key.traits().name,
      [key](const Node& node, SageMakerSection& section) { key.read(node, section); },
      [key](const SageMakerSection& section, const Writing& writing) -> std::optional<Json> {
        return section.job.spot ? key.write(section, writing) : std::nullopt;
      },
      [key](Json& definitions) {
        Json schema = key.schema(definitions);
        schema.erase("default");  // the default also depends on other keys
        return schema;
      });
  conditional.doc(key.traits().doc).default_words(default_words).in_fingerprint(in_fingerprint);
  return conditional;
}

Key<SageMakerSection> channels_key() {
  const auto of_channel = document::object(channel_section());
  const auto read = [of_channel](const Node& node, SageMakerSection& section) {
    for (const auto& [name, child] :
         node.members("an object of input channels by name", k_most_channels)) {
      Channel channel;
      if (child.json().is_string()) {
        channel.s3_uri = child.string().value_or("");
      } else {
        channel = of_channel.read(child).value_or(Channel{});
      }
      channel.name = name;
      section.job.channels.push_back(std::move(channel));
    }
  };
  const auto write = [](const SageMakerSection& section,
                        const Writing& writing) -> std::optional<Json> {
    Json json;
    for (const Channel& channel : section.job.channels)
      json[channel.name] = channel_section().write(channel, writing);
    return json.is_null() ? std::nullopt : std::optional(std::move(json));
  };
  const auto schema = [of_channel](Json& definitions) {
    return Json{{"type", "object"},
                {"maxProperties", k_most_channels},
                {"additionalProperties",
                 {{"anyOf", {s3_uri().schema(definitions), of_channel.schema(definitions)}}}}};
  };
  Key<SageMakerSection> key("channels", read, write, schema);
  key.doc(
         "input data by name, read below `/opt/ml/input/data/NAME`: an S3 URI "
         "or an object")
      .default_words("none");
  return key;
}

void check_groups_of_channels(const ObjectNode& object, const SageMakerSection& section) {
  std::vector<std::string> known;
  for (const RentedGroup& group : section.instances.groups) {
    if (!group.name.empty()) known.push_back(group.name);
  }
  for (const Channel& channel : section.job.channels) {
    for (std::size_t i = 0; i < channel.instance_groups.size(); ++i) {
      const std::string& group = channel.instance_groups[i];
      if (std::ranges::find(known, group) != known.end()) continue;
      object.node().faults().add(
          fmt::format("{}/channels/{}/instance_groups/{}", object.node().pointer(),
                      document::pointer_token(channel.name), i),
          fmt::format("there is no instance group \"{}\"{}", printable_line(group, 60),
                      did_you_mean(group, known)));
    }
  }
}

void check_section(const ObjectNode& object, SageMakerSection& section) {
  const Node& node = object.node();
  section.instances.price_list = k_price_list;
  // If the study names no region, jobs run in the region of the AWS configuration, so use its
  // prices.
  section.instances.region =
      section.region.empty() ? account_price_lists().default_region().value_or("") : section.region;
  check_instance_keys(object, section.instances);
  if (!object.has("instance_type") && !object.has("instance_groups")) {
    node.fault(
        "give \"instance_type\", such as \"ml.g5.xlarge\" or \"{instance}\", or "
        "\"instance_groups\"");
  }
  JobSettings& job = section.job;
  if (object.has("image") == object.has("algorithm")) {
    node.fault("give \"image\", a container image, or \"algorithm\", an algorithm's name");
  }
  const bool has_code_channel = std::ranges::any_of(
      job.channels, [](const Channel& channel) { return channel.name == "code"; });
  if (has_code_channel && !job.code_s3_uri.empty()) {
    node.faults().add(node.pointer() + "/channels/code",
                      "\"code\" names the channel of the program's folder: rename this channel");
  }
  while (job.checkpoint_s3_uri.ends_with('/'))
    job.checkpoint_s3_uri.pop_back();
  if (job.subnets.empty() != job.security_group_ids.empty()) {
    node.fault("\"subnets\" and \"security_groups\" belong together: give both or neither");
  }
  for (const char* key : {"spot_share", "max_wait"}) {
    if (object.has(key) && !job.spot) {
      object.find(key)->fault("applies only to managed spot: give \"spot\": true as well");
    }
  }
  check_groups_of_channels(object, section);
}

void add_job_keys(Jobs& section) {
  section.add(
      job_key("role", &JobSettings::role_arn, named_string(), "ARN of the role that jobs run under")
          .required()
          .in_fingerprint(InFingerprint::never));
  section.add(job_key("image", &JobSettings::image, named_string(),
                      "container image, unless `algorithm` is given")
                  .omitted_at_default());
  section.add(job_key("algorithm", &JobSettings::algorithm_name, named_string(),
                      "name of an algorithm resource, in place of an image")
                  .omitted_at_default());
  section.add(job_key("input_mode", &JobSettings::input_mode, input_mode(),
                      "default of the channels: `File` copies before the start, `FastFile` reads "
                      "as needed (URIs end with `/`), `Pipe` streams"));
  section.add(channels_key());
  section.add(
      job_key("output", &JobSettings::output_s3_uri, s3_uri(), "S3 URI for the output of jobs")
          .required()
          .in_fingerprint(InFingerprint::never));
  section.add(job_key("checkpoints", &JobSettings::checkpoint_s3_uri, s3_uri(),
                      "S3 URI; each job keeps a folder below it in step with "
                      "`/opt/ml/checkpoints`")
                  .omitted_at_default()
                  .in_fingerprint(InFingerprint::never));
  section.add(job_key("code", &JobSettings::code_s3_uri, s3_uri(),
                      "S3 folder with the program; the command runs in a copy of it. S3 keeps no "
                      "execute permission: start scripts through their interpreter")
                  .omitted_at_default());
  // The longest list of names is that of the subnets.
  const auto names = document::list_of(document::string(), k_most_subnets);
  section.add(job_key("subnets", &JobSettings::subnets, names,
                      "subnets of the jobs' VPC; with `security_groups`")
                  .omitted_at_default()
                  .default_words("none"));
  section.add(job_key("security_groups", &JobSettings::security_group_ids, names,
                      "security groups of the jobs' VPC; with `subnets`")
                  .omitted_at_default()
                  .default_words("none"));
  section.add(job_key("tags", &JobSettings::tags,
                      document::map_of(document::string(), "an object of tags by name", k_max_tags),
                      "tags of every job")
                  .omitted_at_default()
                  .default_words("none")
                  .in_fingerprint(InFingerprint::never));
  section.add(job_key("volume_gb", &JobSettings::volume_gb,
                      document::integer({1.0, k_largest_volume_gb}), "disk of each instance"));
  section.add(job_key("network_isolation", &JobSettings::network_isolation, document::boolean(),
                      "no network in the container"));
  section.add(job_key("encrypt_traffic", &JobSettings::encrypt_traffic, document::boolean(),
                      "encrypt what a job's instances send to each other"));
  section.add(job_key("spot", &JobSettings::spot, document::boolean(),
                      "managed spot: cheaper, may be interrupted, no warm pools"));
}

void add_cost_keys(Jobs& section) {
  using document::key;
  section.add(
      only_with_spot(job_key("spot_share", &JobSettings::spot_share, document::number({0.01, 1.0}),
                             "expected spot price as a share of the on-demand price, for `cost` "
                             "and `pools`, not for limits and bills"),
                     "0.35", InFingerprint::where_cost_is_objective));
  section.add(only_with_spot(
      job_key("max_wait", &JobSettings::max_wait_s, document::duration_s({1.0, k_longest_job_s}),
              "spot: longest wait for capacity and run together, at least `limits.wall`"),
      "twice `limits.wall`", InFingerprint::never));
  section.add(key("storage_usd_per_gb_month", &SageMakerSection::storage_usd_per_gb_month,
                  document::number({0.0, 100.0}))
                  .omitted_at_default()
                  .doc("price of a GB of `volume_gb` for a month; instances with their own disks "
                       "have no volume")
                  .default_words("0: not counted")
                  .in_fingerprint(InFingerprint::where_cost_is_objective));
  section.add(key("keep_alive", &SageMakerSection::keep_alive_s,
                  document::duration_s({0.0, k_longest_keep_alive_s}))
                  .doc("longest life of an unused warm pool, at most 6 h; 0: no pools. Not with "
                       "`spot` or heterogeneous clusters")
                  .default_words("chosen by the tuner")
                  .in_fingerprint(InFingerprint::never));
  section.add(key("poll", &SageMakerSection::poll_s, document::duration_s({0.1, 60.0}))
                  .doc("time between two checks of jobs and their logs, 0.1 s to 1 min")
                  .in_fingerprint(InFingerprint::never));
}

Jobs make_sagemaker_section() {
  using document::key;
  Jobs section("sagemaker_runner", "SageMaker training jobs.", "an object");
  section.add(kind_key<SageMakerSection>("sagemaker").required());
  section.add(
      key("parallel", &SageMakerSection::parallel, document::integer({1.0, k_most_parallel_trials}))
          .doc("jobs at the same time")
          .in_fingerprint(InFingerprint::never));
  // The commands of all trials of a job must fit into one request.
  section.add(
      key("trials_per_job", &SageMakerSection::trials_per_job, document::integer({1.0, 32.0}))
          .omitted_at_default()
          .default_words("6")
          .doc("trials that a job may run in turn; 1: each has its own job, as always with "
               "`spot`, `checkpoints`, several instances or no `command`")
          .in_fingerprint(InFingerprint::never));
  for (const Key<RentedInstances>& each : instance_keys())
    section.add(each.of(&SageMakerSection::instances));
  section.add(key("region", &SageMakerSection::region, region())
                  .doc("AWS region")
                  .omitted_at_default()
                  .default_words("the AWS configuration's"));
  add_job_keys(section);
  add_cost_keys(section);
  section.check(check_section);
  return section;
}

}  // namespace

const Section<SageMakerSection>& sagemaker_section() {
  static const auto k_section = make_sagemaker_section();
  return k_section;
}

}  // namespace steptune
