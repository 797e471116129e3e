// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/document/node.hpp"

namespace steptune::document {

/// Purpose for which a document is written.
struct Writing {
  /// If true, writes only the keys that belong to the fingerprint (`InFingerprint`). Paths below
  /// `folder` are written relative to it, so that they stay valid when the folder is moved.
  bool fingerprint = false;
  std::filesystem::path folder;  ///< the document's folder; used for the fingerprint
  bool cost_is_objective = true;
};

/// Returns a number unchanged, any other value as Markdown code.
[[nodiscard]] std::string shown(const Json& json);

/// How a document represents a C++ type V: reads it, writes it, describes it to editors (JSON
/// Schema) and shows it to people.
template <typename V>
struct Type {
  /// Adds a fault and returns nullopt if the value is wrong.
  std::function<std::optional<V>(const Node&)> read;
  std::function<Json(const V&, const Writing&)> write;
  /// Returns the schema. Adds parts that several keys share to `definitions` (the schema's
  /// `$defs`).
  std::function<Json(Json& definitions)> schema;
  /// Returns a written value as Markdown for the reference.
  std::function<std::string(const Json&)> show = shown;
};

[[nodiscard]] Type<double> number(Range range);
[[nodiscard]] Type<std::int64_t> integer(Range range);
[[nodiscard]] Type<bool> boolean();
/// Seconds, or a string such as `30m`.
[[nodiscard]] Type<double> duration_s(Range range_s);
/// Bytes, or a string such as `12GiB`.
[[nodiscard]] Type<double> bytes(Range range);
[[nodiscard]] Type<std::string> string(std::size_t max_bytes = 4096);
/// One of `names`, read as a string.
[[nodiscard]] Type<std::string> one_of(std::vector<std::string> names);
/// One of `names`, read as its index: for enums whose enumerators are in that order.
[[nodiscard]] Type<std::size_t> enumerated(std::vector<std::string> names);
/// A path. Reading appends a relative path to the document's folder (`Reading::folder`).
[[nodiscard]] Type<std::filesystem::path> path();
/// An expression over parameters and facts of the document's scope.
[[nodiscard]] Type<Formula> formula();
/// An expression, or a constant number in `range`.
[[nodiscard]] Type<Formula> formula_or_number(Range range);
[[nodiscard]] Type<Formula> formula_or_integer(Range range);
/// An expression, or a constant whole number in `range`. Writes a constant as a number.
[[nodiscard]] Type<Formula> formula_or_count(Range range);
[[nodiscard]] Type<StringTemplate> string_template();

/// Returns `type` with `members` added to its schema.
template <typename V>
[[nodiscard]] Type<V> with_schema_members(Type<V> type, const Json& members) {
  type.schema = [of_type = std::move(type.schema), members](Json& definitions) {
    Json all = of_type(definitions);
    all.update(members);
    return all;
  };
  return type;
}

/// Returns `type` restricted to values for which `why_not` returns nullopt. For any other value,
/// `why_not` returns the text of the fault. `schema` states the same restriction for editors
/// (`{"pattern": ...}`).
template <typename V>
[[nodiscard]] Type<V> checked(Type<V> type,
                              std::function<std::optional<std::string>(const V&)> why_not,
                              const Json& schema = Json::object()) {
  Type<V> result = type;
  result.read = [read = type.read, why_not](const Node& node) -> std::optional<V> {
    auto value = read(node);
    if (!value) return std::nullopt;
    if (const auto message = why_not(*value)) {
      node.fault(*message);
      return std::nullopt;
    }
    return value;
  };
  return with_schema_members(std::move(result), schema);
}

/// A list of at most `max_count` elements. Faulty elements add faults and are left out.
template <typename V>
[[nodiscard]] Type<std::vector<V>> list_of(Type<V> element, std::size_t max_count) {
  Type<std::vector<V>> type;
  type.read = [element, max_count](const Node& node) {
    std::vector<V> values;
    for (const Node& child : node.elements(max_count)) {
      if (auto value = element.read(child)) values.push_back(*std::move(value));
    }
    return std::optional(std::move(values));
  };
  type.write = [element](const std::vector<V>& values, const Writing& writing) {
    Json json = Json::array();
    for (const V& value : values)
      json.push_back(element.write(value, writing));
    return json;
  };
  type.schema = [element, max_count](Json& definitions) {
    return Json{{"type", "array"}, {"maxItems", max_count}, {"items", element.schema(definitions)}};
  };
  return type;
}

/// An object of at most `max_count` members with names that the user chooses. `what` describes it
/// in faults: "an object of tags by name".
template <typename V>
[[nodiscard]] Type<std::map<std::string, V>> map_of(Type<V> member, std::string what,
                                                    std::size_t max_count) {
  Type<std::map<std::string, V>> type;
  type.read = [member, what = std::move(what), max_count](const Node& node) {
    std::map<std::string, V> values;
    for (const auto& [name, child] : node.members(what, max_count)) {
      if (auto value = member.read(child)) values.insert_or_assign(name, *std::move(value));
    }
    return std::optional(std::move(values));
  };
  type.write = [member](const std::map<std::string, V>& values, const Writing& writing) {
    Json json = Json::object();
    for (const auto& [name, value] : values)
      json[name] = member.write(value, writing);
    return json;
  };
  type.schema = [member, max_count](Json& definitions) {
    return Json{{"type", "object"},
                {"maxProperties", max_count},
                {"additionalProperties", member.schema(definitions)}};
  };
  return type;
}

}  // namespace steptune::document
