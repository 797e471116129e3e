// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/training_job_form.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trial_runner/hooks/hook_files.hpp"
#include "trial_runner/sagemaker/container_start.hpp"
#include "trial_runner/sagemaker/job_request.hpp"

namespace steptune {
namespace {

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

/// Adds the machines and their command to the request and to the Estimator's arguments.
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
  if (!start.environment.empty()) {
    request["Environment"] = start.environment;
    estimator["environment"] = start.environment;
  }
  if (rents_machines(run)) add_machines(run, start.words, request, estimator);
  Json untried = request;
  untried.erase("ResourceConfig");  // trials have already run on these machines
  if (auto checked = check_training_job_input(untried); !checked) {
    return tl::unexpected(checked.error());
  }
  return Json{{"CreateTrainingJob", request}, {"Estimator", estimator}};
}

}  // namespace steptune
