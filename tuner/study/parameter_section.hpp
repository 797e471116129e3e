// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "search/space/search_space.hpp"
#include "tuner/study/node.hpp"

namespace steptune::study {

using ChoiceTexts = std::map<std::string, std::map<std::string, std::string>>;

/// What `parameters` and `constraints` say. Faulty parameters are present by name and kind, so that
/// one slip does not make every mention of the parameter another fault.
struct ParameterSection {
  std::vector<Parameter> parameters;
  ChoiceTexts choice_texts;

  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] const Parameter* find(const std::string& name) const;
};

[[nodiscard]] ParameterSection read_parameters(const Node& node, const Facts& facts);

/// Expressions over all parameters and facts; those that do not compile become faults.
[[nodiscard]] std::vector<std::string> read_constraints(const Node& node,
                                                        const ParameterSection& section,
                                                        const Facts& facts);

/// The text of an expression that compiles over `names` and `facts`.
[[nodiscard]] std::optional<std::string> read_expression(const Node& node,
                                                         const std::vector<std::string>& names,
                                                         const Facts& facts);

/// `facts` overlaid with those that the document pins.
[[nodiscard]] Facts read_facts(const Node& node, Facts facts);

}  // namespace steptune::study
