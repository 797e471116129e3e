// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/json.hpp"
#include "search/space/expression.hpp"
#include "tuner/init/ready_space.hpp"

namespace steptune {

// Declares a knob in a study file: its type, and a range or choices that include today's value.

/// True if an expression over the machine's facts is true or empty.
[[nodiscard]] bool holds_here(const std::string& condition, const Facts& machine);

/// Returns a whole number; nullopt for other texts and numbers that JSON cannot represent exactly.
[[nodiscard]] std::optional<std::int64_t> whole_number(const std::string& text);

/// Declares a whole number with a range around `today`. `today` is empty if the parameter is
/// inactive. Returns nullopt if no range is left, and if `today` is no whole number of at least 0.
[[nodiscard]] std::optional<Json> number_declaration(const SpaceKnob& rule,
                                                     const std::string& today,
                                                     const Facts& machine);

/// Declares a choice among the rule's values and today's, without values that are useless on this
/// machine. Returns nullopt if only one value is left.
[[nodiscard]] std::optional<Json> choice_declaration(const SpaceKnob& rule,
                                                     const std::string& today,
                                                     const Facts& machine);

/// Adjusts the range of a whole number that must divide `product`: limits it to `product`. If
/// `product` is no power of two, also allows numbers that are no powers of two.
void hold_to_factors_of(std::int64_t product, Json& declaration);

}  // namespace steptune
