// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "common/text.hpp"
#include "tuner/study/sections.hpp"

namespace steptune::study {
namespace {

/// Converts a whole number to the number type of the parameter, or a value to the choice with the
/// same text. Returns other values unchanged.
Value in_type_of(const Parameter& parameter, const Value& value) {
  if (parameter.kind == ParameterKind::floating) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  }
  if (parameter.kind == ParameterKind::integer) {
    const auto* number = std::get_if<double>(&value);
    if (number != nullptr && *number == std::floor(*number) && std::abs(*number) <= k_max_whole) {
      return static_cast<std::int64_t>(*number);
    }
  }
  for (const Value& choice : parameter.choices) {
    if (to_text(choice) == to_text(value)) return choice;
  }
  return value;
}

/// Reads a configuration of `space`, each value in its parameter's own type (`1` is 1.0 for a
/// float).
std::optional<Configuration> read_configuration(const Node& node, const SearchSpace& space) {
  Configuration configuration;
  bool sound = node.json().is_object();
  std::vector<std::string> known;
  for (const Parameter& parameter : space.parameters())
    known.push_back(parameter.name);
  for (const auto& [name, child] : node.members("an object of parameter values", k_max_elements)) {
    const Parameter* parameter = space.find(name);
    const auto value = value_from_json(child.json(), {});
    if (parameter == nullptr) {
      child.fault(fmt::format("there is no parameter \"{}\"{}", printable_line(name, 60),
                              did_you_mean(name, known)));
      sound = false;
    } else if (!value) {
      child.fault(value.error().message);
      sound = false;
    } else if (const Value typed = in_type_of(*parameter, *value);
               std::isnan(parameter->position_of(typed))) {
      child.fault(fmt::format("{} is not a value of {}: {}", printable_line(to_text(typed), 60),
                              name, parameter->range_text()));
      sound = false;
    } else {
      configuration.set(name, typed);
    }
  }
  if (!sound) return std::nullopt;
  const auto inside = space.check(configuration);
  if (inside) return configuration;
  node.faults().add(node.pointer() + inside.error().where, document::with_hint(inside.error()));
  return std::nullopt;
}

/// Reads configurations. A repeated configuration is a fault.
std::vector<Configuration> read_hints(const Node& node, const SearchSpace& space) {
  std::vector<Configuration> hints;
  for (const Node& element : node.elements(k_max_elements)) {
    auto hint = read_configuration(element, space);
    if (!hint) continue;
    if (std::find(hints.begin(), hints.end(), *hint) != hints.end()) {
      element.fault("repeats an earlier configuration of the list");
      continue;
    }
    hints.push_back(*std::move(hint));
  }
  return hints;
}

Json configuration_schema(Json& definitions) {
  definitions["value"] = {{"type", {"boolean", "number", "string"}}};
  definitions["configuration"] = {{"type", "object"},
                                  {"additionalProperties", {{"$ref", "#/$defs/value"}}}};
  return {{"$ref", "#/$defs/configuration"}};
}

}  // namespace

Key<StudySpec> baseline_key() {
  return {"baseline",
          [](const Node& node, StudySpec& study) {
            study.baseline = read_configuration(node, study.space).value_or(Configuration{});
          },
          [](const StudySpec& study, const document::Writing& /*writing*/) {
            return std::optional(to_json(study.baseline));
          },
          configuration_schema};
}

Key<StudySpec> try_key() {
  return {"try",
          [](const Node& node, StudySpec& study) {
            study.search.hints = read_hints(node, study.space);
          },
          [](const StudySpec& study, const document::Writing& /*writing*/) {
            Json json = Json::array();
            for (const Configuration& hint : study.search.hints)
              json.push_back(to_json(hint));
            return std::optional(std::move(json));
          },
          [](Json& definitions) {
            return Json{{"type", "array"},
                        {"maxItems", k_max_elements},
                        {"items", configuration_schema(definitions)}};
          }};
}

}  // namespace steptune::study
