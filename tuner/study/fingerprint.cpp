// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "common/sha256.hpp"
#include "tuner/study/canonical_document.hpp"
#include "tuner/study/identifiers.hpp"

namespace steptune::study {
namespace {

/// Paths below the study's folder relative to it, others as they are.
std::string portable_path(const std::string& path, const std::filesystem::path& folder) {
  const auto relative = std::filesystem::path(path).lexically_relative(folder);
  const bool below = !relative.empty() && *relative.begin() != "..";
  return below ? relative.string() : path;
}

/// Facts that a measurement depends on: those that the study mentions, and the processors of the
/// machine where trials really run there.
Json relevant_facts(const StudySpec& study) {
  std::set<std::string> wanted;
  const auto mention = [&](const std::optional<std::string>& expression) {
    for (std::string& name : identifiers_in(expression.value_or("")))
      wanted.insert(std::move(name));
  };
  for (const CommandPart& part : study.command)
    mention(part.when);
  for (const Parameter& parameter : study.space.parameters())
    mention(parameter.when);
  for (const std::string& constraint : study.space.constraints())
    mention(constraint);
  mention(study.planned_run.batch_size);
  mention(study.runner.replay.seconds_per_sample);
  for (const MachinesSpec& machines : study.runner.cluster.machines)
    mention(machines.instance_count);
  if (study.runner.type == "local") wanted.insert({"cpus", "gpus"});
  Json facts = Json::object();
  for (const auto& [name, value] : study.facts) {
    if (wanted.contains(name)) facts[name] = value;
  }
  return facts;
}

}  // namespace

std::string fingerprint_of(const StudySpec& study) {
  // What is hashed is persistent: a change of its form makes every stored study look different.
  Json essence = {{"form", 1}};
  for (const char* key :
       {"command", "env", "working_directory", "parameters", "constraints", "baseline",
        "planned_run", "objectives", "guards", "measure", "reports", "runner"}) {
    if (study.document.contains(key)) essence[key] = study.document[key];
  }
  const auto folder = study.file.parent_path();
  essence["working_directory"] = portable_path(study.working_directory.string(), folder);
  if (essence["runner"].contains("table")) {
    essence["runner"]["table"] = portable_path(study.runner.replay.table.string(), folder);
  }
  const bool cost_matters = std::ranges::any_of(
      study.objectives, [](const Objective& objective) { return objective.is_cost(); });
  if (!study.runner.cluster.machines.empty() && !cost_matters) essence["runner"].erase("prices");
  if (study.runner.type == "sagemaker") {
    if (!cost_matters) essence["runner"].erase("spot_share");
    // Jobs measure the same wherever their output goes and however they are paid and watched.
    for (const char* key :
         {"role", "output", "checkpoints", "tags", "max_wait", "keep_alive", "poll", "parallel"}) {
      essence["runner"].erase(key);
    }
  }
  // Hints to the search, not part of what is measured.
  for (auto& parameter : essence["parameters"])
    parameter.erase("memory");
  essence["measure"].erase("confirm_pairs");
  // Came later: studies from before it go on.
  if (study.measure.min_window_steps == MeasureSpec().min_window_steps) {
    essence["measure"].erase("min_window_steps");
  }
  essence["facts"] = relevant_facts(study);
  return sha256_hex(dump_json(essence));
}

}  // namespace steptune::study
