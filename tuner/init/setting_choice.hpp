// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "search/space/expression.hpp"
#include "tuner/init/program_facts.hpp"
#include "tuner/init/ready_space.hpp"

namespace steptune {

/// The settings of a knob that a program can use on this machine.
struct SettingChoice {
  std::vector<const KnobSetting*> offered;  ///< settings of the rule, including today's
  const KnobSetting* today = nullptr;       ///< null: unknown
  /// Option whose value today belongs to no setting of the rule; may be empty.
  std::string unknown;
};

/// Returns the choice for `rule`, which must outlive the result.
[[nodiscard]] SettingChoice setting_choice(const SpaceKnob& rule, const ProgramFacts& program,
                                           const Facts& machine);

/// Returns the program's options that a setting has.
[[nodiscard]] std::vector<ProgramOption> options_of(const KnobSetting& setting,
                                                    const ProgramFacts& program);

}  // namespace steptune
