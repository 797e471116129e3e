// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "tuner/init/program_option.hpp"

namespace steptune {

/// What a command gives an option: its value, `true` or `false` for a flag that is there, the last
/// one where there are several; nothing where the option is not on the command line.
[[nodiscard]] std::optional<std::string> value_on_command_line(const std::vector<std::string>& argv,
                                                               const ProgramOption& option);

/// `argv` without the option and its value, wherever they stand.
[[nodiscard]] std::vector<std::string> without_option(const std::vector<std::string>& argv,
                                                      const ProgramOption& option);

/// The words that give the option a value, each as it stands on a command line: `{"--workers",
/// "4"}`, `{"--amp"}`, none for a flag that is off and has no negation.
[[nodiscard]] std::vector<std::string> option_words(const ProgramOption& option,
                                                    const std::string& value);

}  // namespace steptune
