// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/json.hpp"
#include "search/space/expression.hpp"
#include "tuner/init/ready_space.hpp"

namespace steptune {

// How a knob is declared in a study file: its type, and a range or choices that hold today's value.

/// Of an expression over the machine alone, such as `2 * cpus`; NaN where it is none.
[[nodiscard]] double fact_value(const std::string& expression, const Facts& machine);
/// Whether an expression over the machine holds; an empty one does.
[[nodiscard]] bool holds_here(const std::string& condition, const Facts& machine);

/// Nothing for what is no whole number, or beyond those that a JSON number tells exactly.
[[nodiscard]] std::optional<std::int64_t> whole_number(const std::string& text);

/// A whole number about `today`, which is empty where the parameter is inactive today. Nothing
/// where that leaves no range.
[[nodiscard]] std::optional<Json> number_declaration(const SpaceKnob& rule,
                                                     const std::string& today,
                                                     const Facts& machine);

/// A choice, with today's value among the rule's; without those that this machine has no use of.
/// Nothing where that leaves a single one.
[[nodiscard]] std::optional<Json> choice_declaration(const SpaceKnob& rule,
                                                     const std::string& today,
                                                     const Facts& machine);

/// For a whole number that is a factor of `product`: it goes no further than that, and is no power
/// of two where the product is none.
void hold_to_factors_of(std::int64_t product, Json& declaration);

/// `8..256`, `fp32|bf16`, `false|true`: for people.
[[nodiscard]] std::string range_text(const Json& declaration, const Facts& machine);

}  // namespace steptune
