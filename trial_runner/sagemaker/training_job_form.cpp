// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/training_job_form.hpp"

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/sagemaker/entry_point.hpp"
#include "trial_runner/sagemaker/trial_pack.hpp"

namespace steptune {
namespace {

Json machine_members(const Resources& resources) {
  Json members;
  if (resources.heterogeneous()) {
    for (const InstanceGroup& group : resources.groups) {
      members["InstanceGroups"].push_back({{"InstanceGroupName", group.name},
                                           {"InstanceType", group.instance_type},
                                           {"InstanceCount", group.instance_count}});
    }
  } else {
    members = {{"InstanceType", resources.instance_type},
               {"InstanceCount", resources.instance_count}};
  }
  return members;
}

struct MemberLimit {
  const char* what;
  std::size_t key_bytes;
  std::size_t value_bytes;
};
// CreateTrainingJob, API reference of Amazon SageMaker.
constexpr MemberLimit k_hyperparameters{"hyperparameter", 256, 2500};
constexpr MemberLimit k_variables{"environment variable", 512, 512};
constexpr std::size_t k_most_members = 100;

Result<void> check_members(const Json& map, const MemberLimit& limit) {
  if (map.size() > k_most_members) {
    return fail(ErrorKind::usage, fmt::format("SageMaker takes {} {}s at most, not {}",
                                              k_most_members, limit.what, map.size()));
  }
  for (const auto& [name, value] : map.items()) {
    if (name.size() <= limit.key_bytes && value.get<std::string>().size() <= limit.value_bytes) {
      continue;
    }
    return fail(
        ErrorKind::usage,
        fmt::format("SageMaker takes no {} as long as {}: {} bytes of name and {} of value "
                    "at most",
                    limit.what, printable_line(name, 60), limit.key_bytes, limit.value_bytes));
  }
  return {};
}

}  // namespace

Result<Json> TrainingJobForm::write(const LongRun& run) const {
  if (auto checked = check_utf8(run); !checked) return tl::unexpected(checked.error());
  const bool rents = run.resources.heterogeneous() || !run.resources.instance_type.empty();
  Json request = {{"HyperParameters", hyperparameters_of(run.configuration)}};
  Json estimator = {{"hyperparameters", to_json(run.configuration)}};
  if (auto checked = check_members(request["HyperParameters"], k_hyperparameters); !checked) {
    return tl::unexpected(checked.error());
  }
  const EntryPoint entry = entry_point(run.argv, false, run.launch);
  auto environment = run.environment;
  environment.insert(entry.environment.begin(), entry.environment.end());
  if (!environment.empty()) {
    request["Environment"] = environment;
    estimator["environment"] = environment;
    if (auto checked = check_members(request["Environment"], k_variables); !checked) {
      return tl::unexpected(checked.error());
    }
  }
  if (rents) {
    request["ResourceConfig"] = machine_members(run.resources);
    if (run.resources.heterogeneous()) {
      estimator["instance_groups"] = request["ResourceConfig"]["InstanceGroups"];
    } else {
      estimator["instance_type"] = run.resources.instance_type;
      estimator["instance_count"] = run.resources.instance_count;
    }
    if (!entry.words.empty()) {
      const std::vector<std::string> arguments(entry.words.begin() + 1, entry.words.end());
      request["AlgorithmSpecification"] = {{"ContainerEntrypoint", {entry.words[0]}}};
      if (!arguments.empty()) {
        request["AlgorithmSpecification"]["ContainerArguments"] = arguments;
      }
    }
  }
  return Json{{"CreateTrainingJob", request}, {"Estimator", estimator}};
}

}  // namespace steptune
