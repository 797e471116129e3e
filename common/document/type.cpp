// SPDX-License-Identifier: Apache-2.0
#include "common/document/type.hpp"

#include <cmath>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "common/text.hpp"
#include "common/units.hpp"

namespace steptune::document {
namespace {

/// A bound of this size or more means "unbounded", so the schema omits it.
constexpr double k_unbounded = 1e300;

Json whole_or_not(double number) {
  const bool whole = number == std::floor(number) && std::abs(number) <= k_max_whole;
  return whole ? Json(static_cast<std::int64_t>(number)) : Json(number);
}

Json number_schema(const char* type, Range range) {
  Json schema = {{"type", type}};
  if (range.low > -k_unbounded) schema["minimum"] = whole_or_not(range.low);
  if (range.high < k_unbounded) schema["maximum"] = whole_or_not(range.high);
  return schema;
}

Json reference(Json& definitions, const char* name, Json definition) {
  definitions[name] = std::move(definition);
  return {{"$ref", fmt::format("#/$defs/{}", name)}};
}

Json expression_schema(Json& definitions) {
  return reference(
      definitions, "expression",
      {{"type", "string"},
       {"minLength", 1},
       {"maxLength", k_max_expression_bytes},
       {"description",
        "Over parameters and the facts cpus, gpus, memory_gb: workers > 0 && precision == "
        "'bf16'."}});
}

/// Formats 90 as "90s" and 7200 as "2h". Uses the largest unit that gives a whole number.
std::string duration_string(double seconds) {
  constexpr std::pair<double, const char*> k_units[] = {
      {k_day_s, "d"}, {k_hour_s, "h"}, {60.0, "m"}};
  for (const auto& [unit, suffix] : k_units) {
    if (seconds >= unit && std::fmod(seconds, unit) == 0.0) {
      return fmt::format("{}{}", seconds / unit, suffix);
    }
  }
  return fmt::format("{}s", seconds);
}

template <typename V>
std::function<Json(const V&, const Writing&)> as_it_is() {
  return [](const V& value, const Writing&) { return Json(value); };
}

/// Returns paths below the document's folder relative to it, other paths unchanged.
std::string portable_path(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto relative = path.lexically_relative(folder);
  const bool below = !relative.empty() && *relative.begin() != "..";
  return below ? relative.string() : path.string();
}

std::optional<Formula> formula_of(const Node& node) {
  return node.reading().scope->formula(node);
}

Json formula_text(const Formula& formula, const Writing& /*writing*/) {
  return formula.text();
}

}  // namespace

std::string shown(const Json& json) {
  return json.is_number() ? fmt::format("{}", json.get<double>()) : "`" + dump_json(json) + "`";
}

Type<double> number(Range range) {
  return {[range](const Node& node) { return node.number(range); }, as_it_is<double>(),
          [range](Json&) { return number_schema("number", range); }};
}

Type<std::int64_t> integer(Range range) {
  return {[range](const Node& node) { return node.integer(range); }, as_it_is<std::int64_t>(),
          [range](Json&) { return number_schema("integer", range); }};
}

Type<bool> boolean() {
  return {[](const Node& node) { return node.boolean(); }, as_it_is<bool>(),
          [](Json&) {
            return Json{{"type", "boolean"}};
          },
          [](const Json& json) { return "`" + dump_json(json) + "`"; }};
}

Type<double> duration_s(Range range_s) {
  const auto schema = [](Json& definitions) {
    return reference(definitions, "duration",
                     {{"anyOf",
                       {{{"type", "number"}, {"minimum", 0}},
                        {{"type", "string"}, {"pattern", "^([0-9.]+(ms|s|m|h|d))+$|^[0-9.]+$"}}}},
                      {"description", "Seconds, or 45s, 30m, 1.5h, 2d, 1h30m."}});
  };
  return {[range_s](const Node& node) { return node.duration_s(range_s); }, as_it_is<double>(),
          schema,
          [](const Json& json) {
            return fmt::format("`\"{}\"`", duration_string(json.get<double>()));
          }};
}

Type<double> bytes(Range range) {
  const auto schema = [range](Json& /*definitions*/) {
    return Json{
        {"anyOf",
         {{{"type", "number"}, {"minimum", whole_or_not(range.low)}},
          {{"type", "string"}, {"pattern", "^[0-9.]+(e[0-9]+)? *([kKmMgGtT][iI]?)?[bB]?$"}}}}};
  };
  return {[range](const Node& node) { return node.bytes(range); }, as_it_is<double>(), schema};
}

Type<std::string> string(std::size_t max_bytes) {
  return {[max_bytes](const Node& node) { return node.string(max_bytes); }, as_it_is<std::string>(),
          [](Json&) {
            return Json{{"type", "string"}};
          }};
}

Type<std::string> one_of(std::vector<std::string> names) {
  return {[names](const Node& node) -> std::optional<std::string> {
            const auto index = node.one_of(names);
            return index ? std::optional(names[*index]) : std::nullopt;
          },
          as_it_is<std::string>(),
          [names](Json&) {
            return Json{{"enum", names}};
          }};
}

Type<std::size_t> enumerated(std::vector<std::string> names) {
  return {[names](const Node& node) { return node.one_of(names); },
          [names](std::size_t index, const Writing&) { return Json(names[index]); },
          [names](Json&) {
            return Json{{"enum", names}};
          }};
}

Type<std::filesystem::path> path() {
  return {[](const Node& node) -> std::optional<std::filesystem::path> {
            const auto written = node.string();
            if (!written) return std::nullopt;
            if (written->empty()) {
              node.fault("the path is empty");
              return std::nullopt;
            }
            return (node.reading().folder / *written).lexically_normal();
          },
          [](const std::filesystem::path& path, const Writing& writing) {
            return Json(writing.fingerprint ? portable_path(path, writing.folder) : path.string());
          },
          [](Json&) {
            return Json{{"type", "string"}, {"minLength", 1}};
          }};
}

Type<Formula> formula() {
  return {formula_of, formula_text, expression_schema};
}

Type<Formula> formula_or_number(Range range) {
  return {
      [range](const Node& node) -> std::optional<Formula> {
        if (!node.json().is_number()) return formula_of(node);
        const auto value = node.number(range);
        if (!value) return std::nullopt;
        return Formula::constant(*value, to_text(Value(*value)));
      },
      formula_text,
      [range](Json& definitions) {
        return Json{{"anyOf", {number_schema("number", range), expression_schema(definitions)}}};
      }};
}

Type<Formula> formula_or_integer(Range range) {
  return {
      [range](const Node& node) -> std::optional<Formula> {
        if (!node.json().is_number()) return formula_of(node);
        const auto value = node.integer(range);
        if (!value) return std::nullopt;
        return Formula::constant(static_cast<double>(*value), fmt::format("{}", *value));
      },
      formula_text,
      [range](Json& definitions) {
        return Json{{"anyOf", {number_schema("integer", range), expression_schema(definitions)}}};
      }};
}

Type<Formula> formula_or_count(Range range) {
  Type<Formula> type = formula_or_integer(range);
  type.write = [](const Formula& formula, const Writing&) {
    const auto constant = parse_finite(formula.text());
    return constant ? Json(static_cast<std::int64_t>(*constant)) : Json(formula.text());
  };
  return type;
}

Type<StringTemplate> string_template() {
  return {[](const Node& node) { return node.reading().scope->string_template(node); },
          [](const StringTemplate& value, const Writing&) { return Json(value.text()); },
          [](Json&) {
            return Json{{"type", "string"}};
          }};
}

}  // namespace steptune::document
