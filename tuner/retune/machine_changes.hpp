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

/// What part of a machine a name of its description tells of.
enum class MachinePart { hardware, system, library, none };

/// `none`: it has no bearing on how fast programs run (the tuner's own version).
[[nodiscard]] MachinePart machine_part(const std::string& name);

struct MachineChange {
  std::string name;    ///< `torch`, `kernel`, `gpu_driver`, ...
  std::string before;  ///< empty: not told
  std::string after;
};

/// In order of name, without what has no bearing. What one of them does not tell although it could
/// not tell anything of its part (no hook, no libraries; machines elsewhere of which no trial has
/// told yet) is no change. Of machines elsewhere and one that described itself only libraries are
/// compared.
[[nodiscard]] std::vector<MachineChange> machine_changes(const MachineDescription& before,
                                                         const MachineDescription& after);

/// The machine that a study was last tuned on, with what the baseline that was measured then told
/// of it; nothing where the history does not tell.
[[nodiscard]] std::optional<MachineDescription> last_machine_of(const History& history,
                                                                std::int64_t study_id);

/// `torch 2.4.0 -> 2.5.1, kernel 6.1.0-25 -> 6.1.0-27`
[[nodiscard]] std::string to_text(const std::vector<MachineChange>& changes);
[[nodiscard]] Json to_json(const std::vector<MachineChange>& changes);

}  // namespace steptune
