// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/knob_declaration.hpp"

#include <algorithm>
#include <cmath>

#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "tuner/knobs/draft_defaults.hpp"
#include "tuner/knobs/knob_role.hpp"
#include "tuner/survey/draft.hpp"

namespace steptune {
namespace {

/// Returns a bound for the study file: a number, or an expression over facts.
Json bound_json(const std::string& bound) {
  if (const auto number = whole_number(bound)) return *number;
  return bound;
}

}  // namespace

bool holds_here(const std::string& condition, const Facts& machine) {
  return condition.empty() || fact_value(condition, machine) != 0.0;
}

std::optional<std::int64_t> whole_number(const std::string& text) {
  const auto number = parse_finite(text);
  if (!number || std::floor(*number) != *number || std::abs(*number) > 1e15) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<Json> number_declaration(const SpaceKnob& rule, const std::string& today,
                                       const Facts& machine) {
  const auto declared = whole_number(today);
  if (!declared && !today.empty()) return std::nullopt;
  // Programs read -1 as "choose the number yourself".
  if (declared && *declared < 0) return std::nullopt;
  Json declaration = {{"type", "int"}};
  if (rule.low.empty()) {
    if (!declared || *declared < 1) return std::nullopt;
    declaration["low"] = std::max<std::int64_t>(1, *declared / k_smaller);
    declaration["high"] = *declared * k_larger;
  } else {
    double low = fact_value(rule.low, machine);
    double high = fact_value(rule.high, machine);
    if (!std::isfinite(low) || !std::isfinite(high)) return std::nullopt;
    const bool below = declared && static_cast<double>(*declared) < low;
    const bool above = declared && static_cast<double>(*declared) > high;
    declaration["low"] = below ? Json(*declared) : bound_json(rule.low);
    declaration["high"] = above ? Json(*declared) : bound_json(rule.high);
    if (below) low = static_cast<double>(*declared);
    if (above) high = static_cast<double>(*declared);
    if (low >= high) return std::nullopt;
  }
  const std::int64_t now = declared.value_or(1);
  if (rule.scale == "log2" && now > 0 && declaration["low"] != 0) {
    declaration["scale"] = is_power_of_two(static_cast<double>(now)) ? "log2" : "log";
  }
  if (rule.scale == "log") declaration["scale"] = "log";
  return declaration;
}

std::optional<Json> choice_declaration(const SpaceKnob& rule, const std::string& today,
                                       const Facts& machine) {
  Json choices = Json::array();
  for (const std::string& choice : rule.choices) {
    const bool useless = precision_of(choice) == "fp16" && machine.at("gpus") == 0.0;
    if (!useless || choice == today) choices.push_back(choice);
  }
  if (std::ranges::find(choices, Json(today)) == choices.end()) {
    choices.insert(choices.begin(), today);
  }
  if (choices.size() < 2) return std::nullopt;
  return Json{{"type", "categorical"}, {"choices", std::move(choices)}};
}

void hold_to_factors_of(std::int64_t product, Json& declaration) {
  const auto low = number_at(declaration, "low");
  const auto high = number_at(declaration, "high");
  if (low && high && *high > static_cast<double>(product)) {
    declaration["high"] = std::max(product, static_cast<std::int64_t>(*low) + 1);
  }
  const bool by_powers = text_at(declaration, "scale") == "log2";
  if (by_powers && !is_power_of_two(static_cast<double>(product))) declaration["scale"] = "log";
}

}  // namespace steptune
