// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/library_versions.hpp"

#include <algorithm>
#include <array>
#include <ranges>
#include <string>

#include "trial_runner/hooks/hook_log.hpp"

namespace steptune {
namespace {

/// Properties that a hook reports, and further properties that the interpreter reports if there is
/// no hook.
constexpr std::array<std::string_view, 12> k_versions_from_hook{
    "torch",   "cuda",     "cudnn",    "python",  "jax",   "jaxlib",
    "xgboost", "lightgbm", "catboost", "sklearn", "keras", "tensorflow"};
constexpr std::array<std::string_view, 1> k_versions_from_interpreter{"numpy"};

constexpr std::array<const char*, 3> k_facts_from_nodes{"hosts", "cpu", "kernel"};

}  // namespace

bool is_of_python(std::string_view name) {
  const auto is_it = [name](std::string_view other) { return other == name; };
  return std::ranges::any_of(k_versions_from_hook, is_it) ||
         std::ranges::any_of(k_versions_from_interpreter, is_it);
}

bool knows_libraries(const MachineDescription& machine) {
  return machine.contains("torch") || machine.contains("python");
}

MachineDescription machine_reported_by(const TrialRecord& trial) {
  MachineDescription machine;
  for (const char* name : k_facts_from_nodes) {
    const auto placed = trial.placement.find(name);
    if (placed != trial.placement.end()) machine[name] = placed->second;
  }
  if (trial.hook.is_null()) return machine;
  const HookLog log = HookLog::from_json(trial.hook);
  const Json& patched = log.event("patched");
  if (!patched.is_object()) return machine;
  for (const std::string_view name : k_versions_from_hook) {
    const auto found = patched.find(std::string(name));
    if (found == patched.end() || !found->is_string()) continue;
    machine[std::string(name)] = found->get<std::string>();
  }
  return machine;
}

void add_baseline_machines(std::vector<SessionRecord>& sessions,
                           const std::vector<TrialRecord>& trials) {
  for (const TrialRecord& trial : trials) {
    if (trial.purpose != TrialPurpose::baseline) continue;
    const auto launched_in =
        std::ranges::find_if(std::views::reverse(sessions), [&](const SessionRecord& session) {
          return session.started_wall_s <= trial.started_wall_s;
        });
    // There may be no such session, if the system's clock was set back.
    if (launched_in != sessions.rend()) launched_in->machine.merge(machine_reported_by(trial));
  }
}

}  // namespace steptune
