// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/hooks/knob_table.hpp"
#include "tuner/study/sections.hpp"
#include "tuner/study/study_scope.hpp"

namespace steptune::study {
namespace {

using document::StringTemplate;
using document::Writing;

using KnobRules = std::map<std::string, KnobRule>;

/// Returns one value of each type that a parameter can have, or all its choices.
std::vector<Value> kinds_of_values(const Parameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::boolean:
      return {Value(true)};
    case ParameterKind::integer:
      return {Value(std::int64_t{1})};
    case ParameterKind::floating:
      return {Value(0.5)};
    default:
      return parameter.choices;
  }
}

/// Returns why a template's values do not suit a knob; nullopt if they do.
std::optional<std::string> why_not_rule_of(const Knob& knob, const StringTemplate& rule,
                                           const StudyScope& scope) {
  const auto names = rule.parameters();
  if (names.empty()) return why_not_value_of(knob, Value(rule.text()));
  const Parameter* parameter = names.size() == 1 ? scope.find(names.front()) : nullptr;
  // A value that is composed of a placeholder and text, or of several placeholders, is not checked
  // here.
  const bool alone = parameter != nullptr && rule.text() == "{" + parameter->name + "}";
  if (!alone) return std::nullopt;
  for (const Value& value : kinds_of_values(*parameter)) {
    Configuration configuration;
    configuration.set(parameter->name, value);
    const auto given = rule.value(configuration);
    if (!given) continue;
    if (auto why = why_not_value_of(knob, *given)) {
      if (!parameter->choices.empty()) return why;
      return fmt::format("{}, and the parameter {} is of another type", *why, parameter->name);
    }
  }
  return std::nullopt;
}

std::optional<KnobRule> read_rule(const Knob& knob, const Node& node) {
  if (node.json().is_string()) {
    auto rule = document::string_template().read(node);
    if (!rule) return std::nullopt;
    if (const auto why = why_not_rule_of(knob, *rule, scope_of(node))) {
      node.fault(*why);
      return std::nullopt;
    }
    return KnobRule(*std::move(rule));
  }
  auto value = value_from_json(node.json(), {});
  if (!value) {
    node.wrong_type("a value, or a template such as \"{" + knob.name + "}\"");
    return std::nullopt;
  }
  if (const auto why = why_not_value_of(knob, *value)) {
    node.fault(*why);
    return std::nullopt;
  }
  return KnobRule(*std::move(value));
}

KnobRules read_rules(const Node& node) {
  KnobRules rules;
  for (const auto& [name, child] : node.members("an object of knobs", k_max_elements)) {
    const Knob* knob = find_python_knob(name);
    if (knob == nullptr) {
      child.fault(fmt::format("there is no knob \"{}\"{}; see docs/hooks.md",
                              printable_line(name, 60), did_you_mean(name, python_knob_names())));
    } else if (auto rule = read_rule(*knob, child)) {
      rules.insert_or_assign(name, *std::move(rule));
    }
  }
  return rules;
}

Type<KnobRules> knob_rules() {
  return {[](const Node& node) { return std::optional(read_rules(node)); },
          [](const KnobRules& rules, const Writing&) {
            Json json = Json::object();
            for (const auto& [name, rule] : rules) {
              const auto* fixed = std::get_if<Value>(&rule);
              json[name] =
                  fixed != nullptr ? to_json(*fixed) : Json(std::get<StringTemplate>(rule).text());
            }
            return json;
          },
          [](Json&) {
            Json properties = Json::object();
            for (const Knob& knob : python_knobs()) {
              properties[knob.name] = {{"description", knob.doc},
                                       {"type", {"string", "boolean", "integer", "number"}}};
            }
            return Json{{"type", "object"},
                        {"properties", std::move(properties)},
                        {"additionalProperties", false}};
          }};
}

/// Type of a hook that only reports: its name instead of an object of settings.
Type<std::string> hook_name() {
  return document::one_of({"python"});
}

}  // namespace

const Section<HooksSpec>& hooks_section() {
  static const auto k_section =
      Section<HooksSpec>("hooks", "Settings for an unchanged program. See docs/hooks.md.",
                         "\"python\", or an object such as {\"python\": {\"num_workers\": "
                         "\"{workers}\"}}")
          .add(key("python", &HooksSpec::python, knob_rules())
                   .default_words("none")
                   .doc("settings by [knob](hooks.md#what-it-sets), as templates; "
                        "`{}`: the hook only reports"));
  return k_section;
}

Type<HooksSpec> hooks() {
  auto type = document::object(hooks_section());
  type.read = [read_object = type.read,
               hook = hook_name()](const Node& node) -> std::optional<HooksSpec> {
    if (!node.json().is_string()) return read_object(node);
    if (!hook.read(node)) return std::nullopt;
    return HooksSpec{KnobRules{}};
  };
  type.schema = [of_object = type.schema](Json& definitions) {
    return Json{{"anyOf", {hook_name().schema(definitions), of_object(definitions)}}};
  };
  return type;
}

}  // namespace steptune::study
