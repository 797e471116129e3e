// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "common/machine/description.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// Part of a machine that an entry of its description belongs to.
enum class MachinePart { hardware, system, library, none };

/// Returns the part that the entry `name` describes. `none`: it does not affect the speed of
/// programs (the tuner's own version).
[[nodiscard]] MachinePart machine_part(const std::string& name);

struct MachineChange {
  std::string name;    ///< `torch`, `kernel`, `gpu_driver`, ...
  std::string before;  ///< empty: not described
  std::string after;
};

/// Returns the differences in order of name, without entries that do not affect the speed. An entry
/// missing on one side is no change if that side described nothing of its kind: it had no hook and
/// so no libraries, or no trial has described a remote machine yet. If one machine is
/// remote and the other one described itself, compares only libraries.
[[nodiscard]] std::vector<MachineChange> machine_changes(const MachineDescription& before,
                                                         const MachineDescription& after);

/// Returns the machine that a study was last tuned on, with what its baseline reported about the
/// machine; nullopt if the history does not say.
[[nodiscard]] std::optional<MachineDescription> last_machine_of(const History& history,
                                                                std::int64_t study_id);

/// Returns `torch 2.4.0 -> 2.5.1, kernel 6.1.0-25 -> 6.1.0-27`.
[[nodiscard]] std::string to_text(const std::vector<MachineChange>& changes);
[[nodiscard]] Json to_json(const std::vector<MachineChange>& changes);

}  // namespace steptune
