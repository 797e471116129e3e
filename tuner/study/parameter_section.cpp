// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/parameter_section.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/study/identifiers.hpp"
#include "tuner/study/study_keys.hpp"

namespace steptune::study {
namespace {

constexpr std::size_t k_max_parameters = 100;
constexpr std::size_t k_max_choices = 10'000;
constexpr std::size_t k_max_choice_bytes = 32'768;
constexpr std::size_t k_max_constraints = 200;
constexpr Range k_integer_range{-0x1p53, 0x1p53};
constexpr Range k_float_range{-1e300, 1e300};
/// Words with a meaning of their own in expressions.
constexpr std::array<std::string_view, 5> k_reserved = {"and", "or", "not", "true", "false"};

/// A number, or an expression over facts such as `2 * cpus`.
std::optional<double> read_bound(const Node& node, const Facts& facts, Range range) {
  if (!node.json().is_string()) {
    if (!node.json().is_number()) {
      node.wrong_type("a number, or an expression over facts such as \"2 * cpus\"");
      return std::nullopt;
    }
    return node.number(range);
  }
  const auto text = read_expression(node, {}, facts);
  if (!text) return std::nullopt;
  const auto expression = Expression::compile(*text, {}, facts);
  const double value = expression->evaluate(Configuration{});
  if (std::isfinite(value) && value >= range.low && value <= range.high) return value;
  node.fault(
      fmt::format("\"{}\" is {} here, which is no usable bound", printable_line(*text), value));
  return std::nullopt;
}

void read_range(const ObjectNode& object, const Facts& facts, Parameter& parameter) {
  const bool whole = parameter.kind == ParameterKind::integer;
  const Range range = whole ? k_integer_range : k_float_range;
  const auto bound = [&](std::string_view key, double& out) {
    const auto child = object.require(key);
    if (!child) return;
    const auto value = read_bound(*child, facts, range);
    if (!value) return;
    // Only an expression may come out broken (`cpus / 2` on three): then the range shrinks to fit.
    if (whole && child->json().is_number() && *value != std::floor(*value)) {
      child->fault(
          fmt::format("must be a whole number (is {}); for fractions use type \"float\"", *value));
      return;
    }
    out = !whole ? *value : (key == "low" ? std::ceil(*value) : std::floor(*value));
  };
  bound("low", parameter.low);
  bound("high", parameter.high);
  if (const auto scale = object.find("scale")) {
    if (const auto index = scale->one_of(names::k_scales)) {
      parameter.scale = static_cast<Scale>(*index);
    }
  }
  if (const auto step = object.find("step")) parameter.step = read_bound(*step, facts, range);
}

void read_choice_list(const Node& node, Parameter& parameter) {
  for (const Node& element : node.elements(k_max_choices)) {
    if (element.json().is_string() && !element.text(k_max_choice_bytes)) continue;
    const auto value = value_from_json(element.json(), {});
    if (!value) {
      element.fault(value.error().message);
    } else {
      parameter.choices.push_back(*value);
    }
  }
}

void read_choice_texts(const Node& node, Parameter& parameter, ChoiceTexts& texts) {
  for (const auto& [label, child] : node.members("choices", k_max_choices)) {
    if (label.find('\0') != std::string::npos) {
      child.fault("the label contains a NUL character");
      continue;
    }
    parameter.choices.emplace_back(label);
    if (const auto text = child.text(k_max_choice_bytes)) texts[parameter.name][label] = *text;
  }
}

/// On a command line `64` and `"64"` are the same choice.
void check_distinct(const Node& node, const std::vector<Value>& choices) {
  std::set<std::string> seen;
  for (const Value& choice : choices) {
    const std::string text = to_text(choice);
    if (!seen.insert(text).second) {
      node.fault(fmt::format("the choice \"{}\" appears twice", printable_line(text, 60)));
    }
  }
}

void read_choices(const ObjectNode& object, Parameter& parameter, ChoiceTexts& texts) {
  const auto node = object.require("choices");
  if (!node) return;
  if (node->json().is_object()) {
    read_choice_texts(*node, parameter, texts);
  } else if (node->json().is_array()) {
    read_choice_list(*node, parameter);
  } else {
    node->wrong_type("a list of values, or an object of labels and the texts behind them");
    return;
  }
  check_distinct(*node, parameter.choices);
}

std::span<const std::string_view> keys_of(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::integer:
    case ParameterKind::floating:
      return keys::k_range_parameter;
    case ParameterKind::boolean:
      return keys::k_bool_parameter;
    case ParameterKind::categorical:
      return keys::k_categorical_parameter;
    default:
      return keys::k_ordinal_parameter;
  }
}

void check_name(const Node& node, const std::string& name, const Facts& facts) {
  if (!is_identifier(name)) {
    node.fault(
        fmt::format("\"{}\" is no parameter name: use letters, digits and _, at most 64, not "
                    "starting with a digit",
                    printable_line(name, 60)));
  } else if (facts.contains(name)) {
    node.fault(fmt::format("\"{}\" is the name of a fact about the machine; choose another", name));
  } else if (std::find(k_reserved.begin(), k_reserved.end(), name) != k_reserved.end()) {
    node.fault(
        fmt::format("\"{}\" is a word of the expression language; choose another name", name));
  }
}

Parameter read_parameter(const Node& node, const std::string& name,
                         const std::vector<std::string>& earlier, const Facts& facts,
                         ChoiceTexts& texts) {
  Parameter parameter;
  parameter.name = name;
  check_name(node, name, facts);
  if (!node.json().is_object()) {
    node.wrong_type("an object such as {\"type\": \"int\", \"low\": 1, \"high\": 8}");
    return parameter;
  }
  const auto type = node.json().find("type");
  if (type == node.json().end()) {
    node.fault("the key \"type\" is missing: one of " +
               quoted_list(to_strings(names::k_parameter_types)));
    return parameter;
  }
  const auto kind =
      Node(*type, node.pointer() + "/type", node.faults()).one_of(names::k_parameter_types);
  if (!kind) return parameter;
  parameter.kind = static_cast<ParameterKind>(*kind);
  const ObjectNode object(node, "an object", keys_of(parameter.kind));
  if (parameter.kind == ParameterKind::integer || parameter.kind == ParameterKind::floating) {
    read_range(object, facts, parameter);
  } else if (parameter.kind != ParameterKind::boolean) {
    read_choices(object, parameter, texts);
  }
  if (const auto when = object.find("when")) {
    parameter.when = read_expression(*when, earlier, facts);
  }
  if (const auto memory = object.find("memory")) {
    if (const auto index = memory->one_of(names::k_memory_effects)) {
      parameter.memory = *index == 0 ? MemoryEffect::increases : MemoryEffect::decreases;
    }
  }
  return parameter;
}

}  // namespace

std::vector<std::string> ParameterSection::names() const {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters)
    names.push_back(parameter.name);
  return names;
}

const Parameter* ParameterSection::find(const std::string& name) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const Parameter& p) { return p.name == name; });
  return found == parameters.end() ? nullptr : &*found;
}

ParameterSection read_parameters(const Node& node, const Facts& facts) {
  ParameterSection section;
  const auto members = node.members("an object of parameters by name", k_max_parameters);
  for (const auto& [name, child] : members) {
    const std::vector<std::string> earlier = section.names();
    section.parameters.push_back(read_parameter(child, name, earlier, facts, section.choice_texts));
    if (node.faults().within(child.pointer())) continue;
    if (const auto sound = section.parameters.back().check(); !sound) {
      const Error& error = sound.error();
      node.faults().add(child.pointer() + error.where,
                        error.hint.empty() ? error.message : error.message + "; " + error.hint);
    }
  }
  if (members.empty() && node.json().is_object() && node.json().empty()) {
    node.fault("there is nothing to tune: name at least one parameter");
  }
  return section;
}

std::vector<std::string> read_constraints(const Node& node, const ParameterSection& section,
                                          const Facts& facts) {
  std::vector<std::string> constraints;
  for (const Node& element : node.elements(k_max_constraints)) {
    if (auto text = read_expression(element, section.names(), facts)) {
      constraints.push_back(*std::move(text));
    }
  }
  return constraints;
}

std::optional<std::string> read_expression(const Node& node, const std::vector<std::string>& names,
                                           const Facts& facts) {
  constexpr std::size_t k_max_expression_bytes = 1000;
  auto text = node.text(k_max_expression_bytes);
  if (!text) return std::nullopt;
  const auto expression = Expression::compile(*text, names, facts);
  if (expression) return text;
  const Error& error = expression.error();
  node.fault(error.hint.empty() ? error.message : error.message + "; " + error.hint);
  return std::nullopt;
}

Facts read_facts(const Node& node, Facts facts) {
  const ObjectNode object(node, "an object of facts by name", keys::k_facts);
  for (const std::string_view name : keys::k_facts) {
    if (const auto child = object.find(name)) {
      if (const auto value = child->number({0.0, 1e9})) facts[std::string(name)] = *value;
    }
  }
  return facts;
}

}  // namespace steptune::study
