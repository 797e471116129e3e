// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/study/node.hpp"
#include "tuner/study/parameter_section.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

/// A text whose placeholders are all sound and of known parameters.
[[nodiscard]] std::optional<std::string> read_template(const Node& node,
                                                       const ParameterSection& parameters);

/// The command's parts with sound templates and conditions, all of known parameters.
[[nodiscard]] std::vector<CommandPart> read_command(const Node& node,
                                                    const ParameterSection& parameters,
                                                    const Facts& facts);

/// Environment variables by name; values are templates.
[[nodiscard]] std::map<std::string, std::string> read_environment(
    const Node& node, const ParameterSection& parameters);

}  // namespace steptune::study
