// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/parameter_keys.hpp"

#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "common/text.hpp"
#include "tuner/knobs/knob_role.hpp"
#include "tuner/study/limits.hpp"
#include "tuner/study/study_scope.hpp"

namespace steptune::study {
namespace {

using document::InFingerprint;
using document::Key;
using document::Range;
using document::Section;
using document::Writing;

constexpr std::size_t k_max_choice_bytes = 32'768;

bool is_whole(const DeclaredParameter& declared) {
  return declared.parameter.kind == ParameterKind::integer;
}

/// Reads a number, or an expression over facts such as `2 * cpus`.
std::optional<double> read_bound(const Node& node, Range range) {
  if (!node.json().is_string()) {
    if (node.json().is_number()) return node.number(range);
    node.wrong_type("a number, or an expression over facts such as \"2 * cpus\"");
    return std::nullopt;
  }
  const auto formula = read_formula(node, {}, scope_of(node).facts());
  if (!formula) return std::nullopt;
  const double value = formula->evaluate(Configuration{});
  if (std::isfinite(value) && value >= range.low && value <= range.high) return value;
  node.fault(fmt::format("\"{}\" is {} here, which cannot be used as a bound",
                         printable_line(formula->text()), value));
  return std::nullopt;
}

Range range_of(const DeclaredParameter& declared) {
  return is_whole(declared) ? Range{-k_max_whole, k_max_whole} : k_any_number;
}

Json written_number(double value, const DeclaredParameter& declared) {
  return is_whole(declared) ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

Json bound_schema(Json& definitions) {
  definitions["bound"] = {
      {"anyOf",
       {{{"type", "number"}},
        {{"type", "string"}, {"description", "An expression over facts, such as 2 * cpus."}}}}};
  return {{"$ref", "#/$defs/bound"}};
}

using Rounding = double (*)(double);

/// Key for a bound. The bound of an integer may be an expression with a fractional value (`cpus /
/// 2` with three CPUs). The bound is then rounded so that the range shrinks. A bound that is
/// written as a number must be whole for an integer.
Key<DeclaredParameter> bound_key(const char* name, double Parameter::*member, Rounding rounding) {
  return {name,
          [member, rounding](const Node& node, DeclaredParameter& declared) {
            const auto value = read_bound(node, range_of(declared));
            if (!value) return;
            if (is_whole(declared) && node.json().is_number() && *value != std::floor(*value)) {
              node.fault(fmt::format(
                  "must be a whole number (is {}); for fractions use type \"float\"", *value));
              return;
            }
            declared.parameter.*member = is_whole(declared) ? rounding(*value) : *value;
          },
          [member](const DeclaredParameter& declared, const Writing&) {
            return std::optional(written_number(declared.parameter.*member, declared));
          },
          bound_schema};
}

Key<DeclaredParameter> step_key() {
  return {"step",
          [](const Node& node, DeclaredParameter& declared) {
            declared.parameter.step = read_bound(node, range_of(declared));
          },
          [](const DeclaredParameter& declared, const Writing&) -> std::optional<Json> {
            if (!declared.parameter.step) return std::nullopt;
            return written_number(*declared.parameter.step, declared);
          },
          bound_schema};
}

Key<DeclaredParameter> type_key(Json schema) {
  return document::key("type", &Parameter::kind, document::enumerated(parameter_types()))
      .of(&DeclaredParameter::parameter)
      .with_schema([schema = std::move(schema)](Json&) { return schema; })
      .required();
}

Key<DeclaredParameter> when_key() {
  return {"when",
          [](const Node& node, DeclaredParameter& declared) {
            // `read_parameters` checks the condition once all parameters are known.
            if (node.json().is_string()) declared.parameter.when = node.json().get<std::string>();
          },
          [](const DeclaredParameter& declared, const Writing&) {
            const auto& when = declared.parameter.when;
            return when ? std::optional<Json>(*when) : std::nullopt;
          },
          document::formula().schema};
}

Key<DeclaredParameter> scale_key() {
  return document::key("scale", &Parameter::scale, document::enumerated({"linear", "log", "log2"}))
      .of(&DeclaredParameter::parameter);
}

Key<DeclaredParameter> memory_key() {
  return document::key("memory", &Parameter::memory,
                       document::enumerated({"increases", "decreases"}))
      .of(&DeclaredParameter::parameter);
}

void read_choice_list(const Node& node, Parameter& parameter) {
  for (const Node& element : node.elements(k_max_choices)) {
    if (element.json().is_string() && !element.string(k_max_choice_bytes)) continue;
    const auto value = value_from_json(element.json(), {});
    if (!value) {
      element.fault(value.error().message);
    } else {
      parameter.choices.push_back(*value);
    }
  }
}

void read_labelled_choices(const Node& node, DeclaredParameter& declared) {
  for (const auto& [label, child] : node.members("choices", k_max_choices)) {
    if (label.find('\0') != std::string::npos) {
      child.fault("the label contains a NUL character");
      continue;
    }
    declared.parameter.choices.emplace_back(label);
    if (const auto text = child.string(k_max_choice_bytes)) declared.strings[label] = *text;
  }
}

/// Checks that no choice appears twice. On a command line, `64` and `"64"` are the same choice.
void check_distinct(const Node& node, const std::vector<Value>& choices) {
  std::set<std::string> seen;
  for (const Value& choice : choices) {
    const std::string text = to_text(choice);
    if (!seen.insert(text).second) {
      node.fault(fmt::format("the choice \"{}\" appears twice", printable_line(text, 60)));
    }
  }
}

void read_choices(const Node& node, DeclaredParameter& declared) {
  if (node.json().is_object()) {
    read_labelled_choices(node, declared);
  } else if (node.json().is_array()) {
    read_choice_list(node, declared.parameter);
  } else {
    node.wrong_type("a list of values, or an object of labels and the strings behind them");
    return;
  }
  check_distinct(node, declared.parameter.choices);
}

std::optional<Json> write_choices(const DeclaredParameter& declared, const Writing& /*writing*/) {
  Json json = declared.strings.empty() ? Json::array() : Json::object();
  for (const Value& choice : declared.parameter.choices) {
    if (declared.strings.empty()) {
      json.push_back(to_json(choice));
    } else {
      json[to_text(choice)] = declared.strings.at(to_text(choice));
    }
  }
  return json;
}

Json choices_schema(Json& definitions) {
  definitions["value"] = {{"type", {"boolean", "number", "string"}}};
  definitions["choices"] = {
      {"anyOf",
       {{{"type", "array"},
         {"minItems", 1},
         {"maxItems", k_max_choices},
         {"items", {{"$ref", "#/$defs/value"}}}},
        {{"type", "object"},
         {"minProperties", 1},
         {"maxProperties", k_max_choices},
         {"additionalProperties", {{"type", "string"}}},
         {"description",
          "Label -> string: the label is the value, the string is what command and env get."}}}}};
  return {{"$ref", "#/$defs/choices"}};
}

Section<DeclaredParameter> section_of_type(const char* name, const char* description, Json type) {
  return Section<DeclaredParameter>(name, description, "an object")
      .add(type_key(std::move(type)).doc("`int`, `float`, `bool`, `categorical` or `ordinal`"));
}

Section<DeclaredParameter>& add_choices(Section<DeclaredParameter>& section) {
  return section.add(
      Key<DeclaredParameter>("choices", read_choices, write_choices, choices_schema)
          .required()
          .doc("`categorical`, `ordinal`: a list of numbers, strings, `true`/`false`; or an object "
               "of labels (for reports and conditions) and strings (for templates)"));
}

Section<DeclaredParameter>& add_when(Section<DeclaredParameter>& section) {
  section.add(
      document::key("role", &DeclaredParameter::role, document::enumerated(role_names()))
          .in_fingerprint(InFingerprint::never)
          .doc("kind of setting; guessed from the name if absent: `batch`, "
               "`accumulation`, "
               "`workers`, `prefetch`, `threads`, `precision`, `compile`, `checkpointing`, "
               "`layout`, `transfer`, `instance`, `other` (changes only the speed), `none`"));
  return section.add(when_key().doc(
      "condition under which the parameter is active, over facts and earlier parameters"));
}

/// Adds `memory`. This key is a hint to the search, so it is not part of the fingerprint.
Section<DeclaredParameter>& add_memory(Section<DeclaredParameter>& section) {
  return section.add(memory_key()
                         .in_fingerprint(InFingerprint::never)
                         .doc("`increases` or `decreases`: effect of a larger value on memory. If "
                              "a trial runs out of memory, configurations that need at least as "
                              "much are not tried. Not for `categorical`"));
}

Section<DeclaredParameter> range_section() {
  auto section = section_of_type("range_parameter", "Whole numbers, or numbers.",
                                 {{"enum", {"int", "float"}}});
  section
      .add(bound_key("low", &Parameter::low, [](double x) { return std::ceil(x); })
               .required()
               .doc("`int`, `float`: smallest value, a number or an expression over facts"))
      .add(bound_key("high", &Parameter::high, [](double x) { return std::floor(x); })
               .required()
               .doc("`int`, `float`: largest value, a number or an expression over facts: "
                    "`\"2 * cpus\"`"))
      .add(step_key().doc("distance of the values, from `low`; linear scale only"))
      .add(scale_key().doc("`linear`; `log` if ratios matter (an `int` may start at 0); `log2`: "
                           "powers of two, for an `int`"));
  return add_memory(add_when(section));
}

Section<DeclaredParameter> bool_section() {
  auto section = section_of_type("bool_parameter", "true or false.", {{"const", "bool"}});
  return add_memory(add_when(section));
}

Section<DeclaredParameter> categorical_section() {
  auto section = section_of_type("categorical_parameter", "Choices without an order.",
                                 {{"const", "categorical"}});
  return add_when(add_choices(section));
}

Section<DeclaredParameter> ordinal_section() {
  auto section =
      section_of_type("ordinal_parameter", "Choices in their order.", {{"const", "ordinal"}});
  return add_memory(add_when(add_choices(section)));
}

}  // namespace

const std::vector<std::string>& parameter_types() {
  static const std::vector<std::string> k_types = {"int", "float", "bool", "categorical",
                                                   "ordinal"};
  return k_types;
}

const std::vector<std::string>& role_names() {
  static const std::vector<std::string> k_names = [] {
    std::vector<std::string> names = knob_role_names();
    names.emplace_back("none");
    return names;
  }();
  return k_names;
}

const Section<DeclaredParameter>& parameter_section(ParameterKind kind) {
  static const auto k_range = range_section();
  static const auto k_bool = bool_section();
  static const auto k_categorical = categorical_section();
  static const auto k_ordinal = ordinal_section();
  switch (kind) {
    case ParameterKind::integer:
    case ParameterKind::floating:
      return k_range;
    case ParameterKind::boolean:
      return k_bool;
    case ParameterKind::categorical:
      return k_categorical;
    default:
      return k_ordinal;
  }
}

std::vector<const Section<DeclaredParameter>*> parameter_sections() {
  return {&parameter_section(ParameterKind::integer), &parameter_section(ParameterKind::boolean),
          &parameter_section(ParameterKind::categorical),
          &parameter_section(ParameterKind::ordinal)};
}

}  // namespace steptune::study
