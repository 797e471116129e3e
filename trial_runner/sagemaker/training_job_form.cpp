// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/training_job_form.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/hooks/hook_files.hpp"
#include "trial_runner/sagemaker/container_start.hpp"
#include "trial_runner/sagemaker/service_limits.hpp"

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
constexpr MemberLimit k_hyperparameters{"hyperparameter", k_longest_hyperparameter_name,
                                        k_longest_hyperparameter};
constexpr MemberLimit k_variables{"environment variable", k_longest_variable, k_longest_variable};

Result<void> check_members(const Json& map, const MemberLimit& limit) {
  if (map.size() > k_most_variables) {
    return fail(ErrorKind::usage, fmt::format("SageMaker takes {} {}s at most, not {}",
                                              k_most_variables, limit.what, map.size()));
  }
  for (const auto& [name, value] : map.items()) {
    if (name.size() <= limit.key_bytes && value.get<std::string>().size() <= limit.value_bytes) {
      continue;
    }
    return fail(
        ErrorKind::usage,
        fmt::format("the {} {} is too long for SageMaker: a name has at most {} bytes, a value at "
                    "most {}",
                    limit.what, printable_line(name, 60), limit.key_bytes, limit.value_bytes));
  }
  return {};
}

Result<void> check_words(const std::vector<std::string>& words) {
  // The first word is the entry point.
  if (words.size() > k_most_arguments + 1) {
    return fail(ErrorKind::usage,
                fmt::format("the command has {} arguments in its container; SageMaker takes {} at "
                            "most",
                            words.size() - 1, k_most_arguments));
  }
  for (const std::string& word : words) {
    if (word.size() <= k_longest_word) continue;
    return fail(ErrorKind::usage,
                fmt::format("an argument of the command has {} bytes; SageMaker takes {} at most: "
                            "{}",
                            word.size(), k_longest_word, printable_line(word, 60)));
  }
  return {};
}

bool rents_machines(const LongRun& run) {
  return run.resources.heterogeneous() || !run.resources.instance_type.empty();
}

/// Returns the hook's files as one text; nullopt if the run has no hook.
Result<std::optional<std::string>> packed_hook(const LongRun& run) {
  if (run.python_path.empty()) return std::nullopt;
  const auto files = read_hook_files(run.python_path, run.environment);
  if (!files) return tl::unexpected(files.error());
  return packed_text(*files);
}

/// Adds the machines and their command to both objects.
void add_machines(const LongRun& run, const std::vector<std::string>& words, Json& request,
                  Json& estimator) {
  request["ResourceConfig"] = machine_members(run.resources);
  if (run.resources.heterogeneous()) {
    estimator["instance_groups"] = request["ResourceConfig"]["InstanceGroups"];
  } else {
    estimator["instance_type"] = run.resources.instance_type;
    estimator["instance_count"] = run.resources.instance_count;
  }
  if (words.empty()) return;
  const std::vector<std::string> arguments(words.begin() + 1, words.end());
  request["AlgorithmSpecification"] = {{"ContainerEntrypoint", {words[0]}}};
  if (!arguments.empty()) request["AlgorithmSpecification"]["ContainerArguments"] = arguments;
  if (run.python_path.empty() && run.files.empty()) return;
  // The command sets up the hook and writes the files, so the SDK's Estimator needs it, too.
  estimator["container_entry_point"] = Json::array({words[0]});
  estimator["container_arguments"] = arguments;
}

}  // namespace

bool TrainingJobForm::takes_files_along(const LongRun& run) const {
  return rents_machines(run) && !run.argv.empty();
}

Result<Json> TrainingJobForm::write(const LongRun& run) const {
  if (auto checked = check_utf8(run); !checked) return tl::unexpected(checked.error());
  const auto hook = packed_hook(run);
  if (!hook) return tl::unexpected(hook.error());
  ContainerProgram program{run.argv, run.environment, run.configuration, run.launch, run.files};
  if (*hook) program.hook = **hook;
  const ContainerStart start = container_start(program);
  Json request = {{"HyperParameters", start.hyperparameters}};
  Json typed = to_json(run.configuration);
  for (const auto& [name, value] : start.hyperparameters)
    typed.emplace(name, value);
  Json estimator = {{"hyperparameters", std::move(typed)}};
  if (auto checked = check_members(request["HyperParameters"], k_hyperparameters); !checked) {
    return tl::unexpected(checked.error());
  }
  if (!start.environment.empty()) {
    request["Environment"] = start.environment;
    estimator["environment"] = start.environment;
    if (auto checked = check_members(request["Environment"], k_variables); !checked) {
      return tl::unexpected(checked.error());
    }
  }
  if (rents_machines(run)) {
    if (auto checked = check_words(start.words); !checked) return tl::unexpected(checked.error());
    add_machines(run, start.words, request, estimator);
  }
  return Json{{"CreateTrainingJob", request}, {"Estimator", estimator}};
}

}  // namespace steptune
