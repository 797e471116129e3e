// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/counting_parameter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

namespace steptune {
namespace {

/// Keys that count machines, followed by keys that count GPUs or processes of each machine.
constexpr std::array<std::string_view, 6> k_counting_keys = {"nodes",          "instance_count",
                                                             "instances",      "processes_per_node",
                                                             "tasks_per_node", "gpus_per_node"};
/// Names of parameters that count machines. `workers` and the like are not among them: they also
/// name the processes of a data loader.
constexpr std::array<std::string_view, 7> k_machine_names = {
    "nodes", "num_nodes", "nnodes", "instances", "instance_count", "num_instances", "machines"};
/// Names of parameters that count GPUs or processes.
constexpr std::array<std::string_view, 6> k_process_names = {
    "world_size", "processes", "nproc_per_node", "gpus_per_node", "num_gpus", "gpus"};

std::optional<std::string> numeric_parameter(const SearchSpace& space, std::string_view text) {
  if (text.size() > 2 && text.front() == '{' && text.back() == '}')
    text = text.substr(1, text.size() - 2);
  const Parameter* parameter = space.find(text);
  if (parameter == nullptr || !is_numeric(*parameter)) return std::nullopt;
  return parameter->name;
}

std::optional<std::string> parameter_called(const SearchSpace& space,
                                            std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    if (auto parameter = numeric_parameter(space, name)) return parameter;
  }
  return std::nullopt;
}

/// Returns the texts of the key in this section and in its groups of instances.
std::vector<std::string> texts_at(const Json& section, std::string_view key) {
  std::vector<std::string> texts;
  if (!section.is_object()) return texts;
  const auto add = [&](const Json& object) {
    const auto found = object.find(std::string(key));
    if (found != object.end() && found->is_string()) texts.push_back(found->get<std::string>());
  };
  add(section);
  if (const auto groups = section.find("instance_groups"); groups != section.end()) {
    for (const Json& group : *groups) {
      if (group.is_object()) add(group);
    }
  }
  return texts;
}

}  // namespace

bool is_numeric(const Parameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::integer:
    case ParameterKind::floating:
      return true;
    case ParameterKind::boolean:
      return false;
    case ParameterKind::categorical:
    case ParameterKind::ordinal:
      break;
  }
  return std::ranges::all_of(parameter.choices, [](const Value& choice) {
    return std::isfinite(to_number(choice)) && !std::holds_alternative<bool>(choice);
  });
}

bool counts_machines(std::string_view name) {
  return std::ranges::find(k_machine_names, name) != k_machine_names.end();
}

std::optional<std::string> counting_parameter(const StudySpec& study) {
  for (const char* section : {"launch", "runner"}) {
    const auto found = study.document.find(section);
    if (found == study.document.end()) continue;
    for (const std::string_view key : k_counting_keys) {
      for (const std::string& text : texts_at(*found, key)) {
        if (auto parameter = numeric_parameter(study.space, text)) return parameter;
      }
    }
  }
  auto machines = parameter_called(study.space, k_machine_names);
  return machines ? machines : parameter_called(study.space, k_process_names);
}

}  // namespace steptune
