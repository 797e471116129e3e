// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/slurm_kind.hpp"

#include <utility>

#include "trial_runner/slurm/cluster_services.hpp"
#include "trial_runner/slurm/slurm_settings.hpp"

namespace steptune {
namespace {

using document::Node;

void add_number(const Json& section, const char* key, const char* fact, RemoteMachine& machine) {
  const auto found = section.find(key);
  if (found == section.end()) return;
  if (found->is_number()) machine.facts[fact] = found->get<double>();
  if (found->is_string()) machine.expressions.push_back(found->get<std::string>());
}

class SlurmKind final : public RunnerKind {
 public:
  [[nodiscard]] std::string_view name() const override { return "slurm"; }
  [[nodiscard]] std::string_view title() const override { return "Slurm"; }

  [[nodiscard]] std::unique_ptr<RunnerSettings> read(const Node& node, const TrialLimits& limits,
                                                     bool) const override {
    SlurmSection section;
    slurm_section().read(node, section);
    return std::make_unique<SlurmSettings>(std::move(section), limits);
  }
  [[nodiscard]] Json schema(Json& definitions) const override {
    return slurm_section().schema(definitions);
  }
  [[nodiscard]] std::vector<document::KeyTable> tables() const override {
    return {slurm_section().table()};
  }
  [[nodiscard]] std::optional<RemoteMachine> remote_machine(
      const Json& section, const std::filesystem::path&) const override {
    RemoteMachine machine;
    machine.facts["gpus"] = 0.0;
    machine.why_not_more =
        "steptune knows the cluster's nodes only by \"cpus_per_task\" and \"gpus_per_node\"";
    if (!section.is_object()) return machine;
    if (section.contains("gpus_per_node")) machine.facts.erase("gpus");
    add_number(section, "gpus_per_node", "gpus", machine);
    add_number(section, "cpus_per_task", "cpus", machine);
    if (const auto tasks = section.find("tasks_per_node"); tasks != section.end()) {
      if (tasks->is_number() && machine.facts.contains("cpus")) {
        machine.facts["cpus"] *= tasks->get<double>();
      } else if (tasks->is_string()) {
        machine.facts.erase("cpus");
        machine.expressions.push_back(tasks->get<std::string>());
      }
    }
    if (const auto nodes = section.find("nodes"); nodes != section.end() && nodes->is_string()) {
      machine.expressions.push_back(nodes->get<std::string>());
    }
    return machine;
  }
  [[nodiscard]] const HeldMachinesService* held_machines() const override {
    return &slurm::cluster_allocations();
  }
  [[nodiscard]] std::vector<Diagnosis> diagnose() const override {
    return slurm::diagnose_cluster();
  }
};

}  // namespace

const RunnerKind& slurm_kind() {
  static const SlurmKind k_kind;
  return k_kind;
}

}  // namespace steptune
