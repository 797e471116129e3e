// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "search/space/expression.hpp"
#include "tuner/init/guess_input.hpp"
#include "tuner/init/program_facts.hpp"
#include "tuner/init/ready_space.hpp"

namespace steptune {

/// Place of a knob's value.
struct KnobPlace {
  const ProgramOption* option = nullptr;  ///< null if there is none
  const NamedConfig* config = nullptr;    ///< the file with the value; null: the command line
};

/// Finds a knob's value on the command line or in the files that the command names.
[[nodiscard]] KnobPlace place_of(const SpaceKnob& rule, const GuessInput& input);

/// Returns why the value at this place cannot be replaced; empty if it can.
[[nodiscard]] std::string why_not_there(const SpaceKnob& rule, const KnobPlace& place,
                                        const ProgramFacts& program);

/// True if a file that the command names sets this key to a value other than `auto` and the like.
[[nodiscard]] bool is_set_in_files(const std::string& key, const ProgramFacts& program);

/// Returns the value that the unchanged program uses, and its source. `option` is the option of
/// the knob's place.
[[nodiscard]] std::optional<ProgramFacts::Today> today_of(const SpaceKnob& rule,
                                                          const ProgramOption& option,
                                                          const GuessInput& input);

/// Converts a text to a value of a knob of this type.
[[nodiscard]] Value knob_value(const std::string& type, const std::string& text);

/// The settings of a knob that a program can use on this machine.
struct SettingChoice {
  std::vector<const KnobSetting*> offered;  ///< settings of the rule, including today's
  const KnobSetting* today = nullptr;       ///< null: unknown
  /// Option with a value today that no setting of the rule has; may be empty.
  std::string unknown;
};

/// Returns the choice for `rule`, which must outlive the result.
[[nodiscard]] SettingChoice setting_choice(const SpaceKnob& rule, const ProgramFacts& program,
                                           const Facts& machine);

/// Returns the program's options that occur in a setting.
[[nodiscard]] std::vector<ProgramOption> options_of(const KnobSetting& setting,
                                                    const ProgramFacts& program);

}  // namespace steptune
