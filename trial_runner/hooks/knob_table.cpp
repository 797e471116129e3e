// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/hooks/knob_table.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/enum_names.hpp"
#include "trial_runner/hooks/knob_table_text.hpp"

namespace steptune {
namespace {

constexpr auto k_class_names = enum_names<KnobClass>({
    {KnobClass::safe, "safe"},
    {KnobClass::numeric, "numeric"},
    {KnobClass::semantic, "semantic"},
});

Knob knob_from_json(const Json& json) {
  Knob knob;
  knob.name = json.at("name").get<std::string>();
  knob.knob_class = k_class_names.value_of(json.at("class").get<std::string>()).value();
  knob.parameter = json.at("parameter");
  knob.part = json.value("part", "");
  knob.device = json.value("device", "");
  knob.may_break = json.value("may_break", "");
  knob.switchable = json.at("applied") == "live";
  if (json.at("applied") == "environment") knob.environment = json.at("environment");
  knob.today = json.value("today", Json());
  knob.edit = json.at("edit");
  knob.doc = json.at("doc").get<std::string>();
  return knob;
}

struct KnobTables {
  std::vector<Knob> knobs;  ///< of all families
  std::map<std::string, std::vector<std::string>, std::less<>> names_by_family;
  std::map<std::string, Json> common;  ///< by name; families share them
};

/// Reads the tables of all families. A text in a family's table names a knob of the common table.
KnobTables read_tables() {
  KnobTables all;
  const Json tables = parse_json(knob_table_text(), "knobs.json").value();
  for (const Json& table : tables) {
    if (table.is_null()) continue;  // the end of the list
    const auto family = table.at("family").get<std::string>();
    for (const Json& entry : table.at("table").at("knobs")) {
      if (family.empty()) {
        all.common.emplace(entry.at("name").get<std::string>(), entry);
        continue;
      }
      const Json& json = entry.is_string() ? all.common.at(entry.get<std::string>()) : entry;
      Knob knob = knob_from_json(json);
      all.names_by_family[family].push_back(knob.name);
      const bool is_known = std::ranges::find(all.knobs, knob.name, &Knob::name) != all.knobs.end();
      if (!is_known) all.knobs.push_back(std::move(knob));
    }
  }
  return all;
}

const KnobTables& tables() {
  static const KnobTables k_tables = read_tables();
  return k_tables;
}

}  // namespace

const std::vector<Knob>& python_knobs() {
  return tables().knobs;
}

std::vector<const Knob*> python_knobs_of(std::string_view family) {
  const auto names = tables().names_by_family.find(family);
  std::vector<const Knob*> knobs;
  if (names == tables().names_by_family.end()) return knobs;
  for (const std::string& name : names->second)
    knobs.push_back(find_python_knob(name));
  return knobs;
}

std::set<std::string> families_of_knobs(const std::set<std::string>& names) {
  std::set<std::string> families;
  for (const auto& [family, own] : tables().names_by_family) {
    const bool is_named = std::ranges::any_of(own, [&](const std::string& name) {
      return names.contains(name) && !tables().common.contains(name);
    });
    if (is_named) families.insert(family);
  }
  return families;
}

std::set<std::string> python_families() {
  std::set<std::string> families;
  for (const auto& [family, names] : tables().names_by_family)
    families.insert(family);
  return families;
}

const Knob* find_python_knob(std::string_view name) {
  const auto found = std::ranges::find(python_knobs(), name, &Knob::name);
  return found == python_knobs().end() ? nullptr : &*found;
}

std::vector<std::string> python_knob_names() {
  std::vector<std::string> names;
  for (const Knob& knob : python_knobs())
    names.push_back(knob.name);
  return names;
}

std::optional<std::string> why_not_value_of(const Knob& knob, const Value& value) {
  const auto type = knob.parameter.at("type").get<std::string>();
  if (type == "bool") {
    if (std::holds_alternative<bool>(value)) return std::nullopt;
    return fmt::format("{} is true or false, not {}", knob.name, dump_json(to_json(value)));
  }
  if (type == "int") {
    if (std::holds_alternative<std::int64_t>(value)) return std::nullopt;
    return fmt::format("{} is a whole number, not {}", knob.name, dump_json(to_json(value)));
  }
  std::vector<std::string> choices;
  for (const Json& choice : knob.parameter.at("choices"))
    choices.push_back(choice.get<std::string>());
  const auto* text = std::get_if<std::string>(&value);
  const bool takes_any = knob.in_environment() && knob.environment.contains("*");
  if (text != nullptr && (takes_any || std::ranges::find(choices, *text) != choices.end())) {
    return std::nullopt;
  }
  return fmt::format("{} is one of {}, not {}", knob.name, fmt::join(choices, ", "),
                     to_text(value));
}

const Json* find_by_value(const Json& by_value, const Value& value) {
  for (const std::string& name : {to_text(value), std::string("*")}) {
    const auto found = by_value.find(name);
    if (found != by_value.end()) return &*found;
  }
  return nullptr;
}

std::string with_value(std::string text, std::string_view value) {
  constexpr std::string_view k_place = "{value}";
  for (std::size_t at = text.find(k_place); at != std::string::npos;
       at = text.find(k_place, at + value.size())) {
    text.replace(at, k_place.size(), value);
  }
  return text;
}

}  // namespace steptune
