// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/machine_changes.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tuner/report/library_versions.hpp"

namespace steptune {
namespace {

constexpr std::array<std::string_view, 6> k_hardware{"cpu", "cpus",       "memory",
                                                     "gpu", "hypervisor", k_trials_on};

std::string value_of(const MachineDescription& machine, const std::string& name) {
  const auto found = machine.find(name);
  return found == machine.end() ? std::string() : found->second;
}

std::string text_or_none(const std::string& text) {
  return text.empty() ? "none" : text;
}

}  // namespace

MachinePart machine_part(const std::string& name) {
  // Steptune's version is no part of the machine. A cluster may assign other nodes every night.
  if (name == "steptune" || name == "hosts") return MachinePart::none;
  if (std::ranges::find(k_hardware, name) != k_hardware.end()) return MachinePart::hardware;
  return name == "c_library" || is_of_python(name) ? MachinePart::library : MachinePart::system;
}

std::vector<MachineChange> machine_changes(const MachineDescription& before,
                                           const MachineDescription& after) {
  const bool elsewhere = before.contains(k_trials_on) || after.contains(k_trials_on);
  std::set<std::string> names;
  for (const MachineDescription* machine : {&before, &after}) {
    for (const auto& [name, text] : *machine)
      names.insert(name);
  }
  const bool libraries = knows_libraries(before) && knows_libraries(after);
  std::vector<MachineChange> changes;
  for (const std::string& name : names) {
    const bool known = !is_of_python(name) || libraries;
    if (!known || machine_part(name) == MachinePart::none) continue;
    MachineChange change{name, value_of(before, name), value_of(after, name)};
    if (elsewhere && (change.before.empty() || change.after.empty())) continue;
    if (change.before != change.after) changes.push_back(std::move(change));
  }
  return changes;
}

std::optional<MachineDescription> last_machine_of(const History& history, std::int64_t study_id) {
  auto sessions = history.sessions(study_id);
  const auto trials = history.trials(study_id);
  if (!sessions || !trials || sessions->empty()) return std::nullopt;
  add_baseline_machines(*sessions, *trials);
  return std::move(sessions->back().machine);
}

std::string to_text(const std::vector<MachineChange>& changes) {
  std::string text;
  for (const MachineChange& change : changes) {
    text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", change.name,
                        text_or_none(change.before), text_or_none(change.after));
  }
  return text;
}

template <>
const JsonRecord<MachineChange>& json_record<MachineChange>() {
  static const auto record = JsonRecord<MachineChange>()
                                 .field("name", &MachineChange::name)
                                 .field("before", &MachineChange::before)
                                 .field("after", &MachineChange::after);
  return record;
}

}  // namespace steptune
