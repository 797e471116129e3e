// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "common/text.hpp"
#include "search/space/search_space.hpp"
#include "tuner/study/parameter_keys.hpp"
#include "tuner/study/sections.hpp"
#include "tuner/study/study_scope.hpp"

namespace steptune::study {
namespace {

using document::Writing;

void check_name(const Node& node, const std::string& name, const Facts& facts) {
  if (!document::is_identifier(name)) {
    node.fault(
        fmt::format("\"{}\" is not a parameter name: use letters, digits and _, at most 64, not "
                    "starting with a digit",
                    printable_line(name, 60)));
  } else if (facts.contains(name)) {
    node.fault(fmt::format("\"{}\" is the name of a fact about the machine; choose another", name));
  } else if (std::ranges::find(k_expression_words, name) != k_expression_words.end()) {
    node.fault(
        fmt::format("\"{}\" is a word of the expression language; choose another name", name));
  }
}

DeclaredParameter read_parameter(const Node& node, const std::string& name) {
  DeclaredParameter declared;
  declared.parameter.name = name;
  check_name(node, name, scope_of(node).facts());
  if (!node.json().is_object()) {
    node.wrong_type("an object such as {\"type\": \"int\", \"low\": 1, \"high\": 8}");
    return declared;
  }
  if (!node.json().contains("type")) {
    node.fault("the key \"type\" is missing: one of " + document::quoted_list(parameter_types()));
    return declared;
  }
  const auto kind = node.child("type").one_of(parameter_types());
  if (kind) parameter_section(static_cast<ParameterKind>(*kind)).read(node, declared);
  return declared;
}

/// Returns the role at this index of `role_names`; nullopt for the last role, `none`.
std::optional<KnobRole> role_at(std::size_t role) {
  if (role + 1 == role_names().size()) return std::nullopt;
  return static_cast<KnobRole>(role);
}

std::size_t index_of(std::optional<KnobRole> role) {
  return role ? static_cast<std::size_t>(*role) : role_names().size() - 1;
}

void read_role(const Node& node, const DeclaredParameter& declared, KnobRoles& roles) {
  if (!declared.role) return;
  const auto role = role_at(*declared.role);
  if (role && is_a_number(*role) && !has_numbers(declared.parameter)) {
    node.child("role").fault(
        fmt::format("the role \"{}\" needs a parameter whose values are numbers", to_text(*role)));
  }
  for (const auto& [name, other] : roles) {
    if (!role || role == KnobRole::other || other != role) continue;
    node.child("role").fault(fmt::format(
        "\"{}\" has this role, too: only one parameter can have it", printable_line(name, 60)));
  }
  roles[declared.parameter.name] = role;
}

void read_parameters(const Node& node, StudySpec& study) {
  StudyScope& scope = scope_of(node);
  const auto members = node.members("an object of parameters by name", k_max_parameters);
  for (const auto& [name, child] : members) {
    DeclaredParameter declared = read_parameter(child, name);
    if (!node.faults().within(child.pointer())) {
      if (const auto sound = declared.parameter.check(); !sound) {
        node.faults().add(child.pointer() + sound.error().where,
                          document::with_hint(sound.error()));
      }
    }
    read_role(child, declared, study.parameter_roles);
    scope.add(std::move(declared.parameter), std::move(declared.strings));
  }
  for (const auto& [name, child] : members) {
    if (child.json().contains("when")) {
      (void)read_formula(child.child("when"), scope.names(), scope.facts());
    }
  }
  if (node.json().is_object() && node.json().empty()) {
    node.fault("there is nothing to tune: name at least one parameter");
  }
  study.choice_strings = scope.choice_strings();
}

std::optional<Json> write_parameters(const StudySpec& study, const Writing& writing) {
  Json json = Json::object();
  for (const Parameter& parameter : study.space.parameters()) {
    const auto strings = study.choice_strings.find(parameter.name);
    const auto role = study.parameter_roles.find(parameter.name);
    DeclaredParameter declared{parameter, {}, {}};
    if (strings != study.choice_strings.end()) declared.strings = strings->second;
    if (role != study.parameter_roles.end()) declared.role = index_of(role->second);
    json[parameter.name] = parameter_section(parameter.kind).write(declared, writing);
  }
  return json;
}

Json parameters_schema(Json& definitions) {
  Json any = Json::array();
  for (const Section<DeclaredParameter>* section : parameter_sections())
    any.push_back(section->schema(definitions));
  return {{"type", "object"},
          {"minProperties", 1},
          {"maxProperties", k_max_parameters},
          {"propertyNames", {{"pattern", document::k_identifier_pattern}}},
          {"additionalProperties", {{"anyOf", std::move(any)}}}};
}

}  // namespace

Key<StudySpec> parameters_key() {
  return {"parameters", read_parameters, write_parameters, parameters_schema};
}

std::vector<std::string> read_constraints(const Node& node) {
  std::vector<std::string> constraints;
  const StudyScope& scope = scope_of(node);
  for (const Node& element : node.elements(k_max_constraints)) {
    if (const auto formula = read_formula(element, scope.names(), scope.facts())) {
      constraints.push_back(formula->text());
    }
  }
  return constraints;
}

Key<StudySpec> constraints_key() {
  return {"constraints",
          // `read_constraints` reads the constraints later, when the search space is made.
          [](const Node& /*node*/, StudySpec& /*study*/) {},
          [](const StudySpec& study, const Writing& /*writing*/) {
            return std::optional<Json>(study.space.constraints());
          },
          document::list_of(document::formula(), k_max_constraints).schema};
}

}  // namespace steptune::study
