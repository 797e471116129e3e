// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "search/space/expression.hpp"
#include "tuner/init/program_facts.hpp"
#include "tuner/init/ready_space.hpp"

namespace steptune {

/// Which of a knob's settings a program can be given on this machine.
struct SettingChoice {
  std::vector<const KnobSetting*> offered;  ///< of the rule; today's is among them
  const KnobSetting* today = nullptr;       ///< null: not known
  /// An option of the settings whose value today is that of none of them; empty: there is none.
  std::string unknown;
};

/// `rule` outlives the answer.
[[nodiscard]] SettingChoice setting_choice(const SpaceKnob& rule, const ProgramFacts& program,
                                           const Facts& machine);

}  // namespace steptune
