// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/json_record.hpp"
#include "common/machine/description.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// Part of a machine that an entry of its description belongs to.
enum class MachinePart { hardware, system, library, none };

/// Returns the part that the entry `name` describes. `none`: the entry does not affect the speed of
/// programs (the tuner's own version, the names of a cluster's nodes).
[[nodiscard]] MachinePart machine_part(const std::string& name);

struct MachineChange {
  std::string name;    ///< `torch`, `kernel`, `gpu_driver`, ...
  std::string before;  ///< empty if the description lacks the entry
  std::string after;
};
template <>
const JsonRecord<MachineChange>& json_record<MachineChange>();

/// Returns the differences in order of name, without entries that do not affect the speed.
///
/// - Compares Python libraries only if both descriptions list them. A description made without a
///   hook lists none.
/// - If trials of either side ran on remote machines (`k_trials_on`), skips entries that one side
///   lacks. Trials report remote machines, so an entry may be missing only because no trial has
///   reported it yet.
[[nodiscard]] std::vector<MachineChange> machine_changes(const MachineDescription& before,
                                                         const MachineDescription& after);

/// Returns the machine on which a study was last tuned, including the properties that its baseline
/// reported. Returns nullopt if the history does not say.
[[nodiscard]] std::optional<MachineDescription> last_machine_of(const History& history,
                                                                std::int64_t study_id);

/// Returns `torch 2.4.0 -> 2.5.1, kernel 6.1.0-25 -> 6.1.0-27`.
[[nodiscard]] std::string to_text(const std::vector<MachineChange>& changes);

}  // namespace steptune
