// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/configuration.hpp"
#include "common/enum_names.hpp"
#include "common/json.hpp"

namespace steptune {

template <typename T>
class JsonRecord;

/// Returns the fields of a T in results. Each struct specialises it next to its own declaration.
template <typename T>
[[nodiscard]] const JsonRecord<T>& json_record();

/// JSON form of a T in results. `read` returns false if the JSON has another form, as in a damaged
/// file. `value` then stays unchanged. In a list or a map, the faulty element becomes `T{}`.
/// `schema` is a JSON Schema of the form.
template <typename T>
struct JsonForm {
  static Json write(const T& value) { return json_record<T>().write(value); }
  static bool read(const Json& json, T& value) { return json_record<T>().read(json, value); }
  static Json schema() { return json_record<T>().reference(); }
};

/// A number that is not finite is null, because JSON has neither NaN nor infinity. Null reads as
/// NaN.
template <>
struct JsonForm<double> {
  static Json write(double value);
  static bool read(const Json& json, double& value);
  static Json schema();
};

template <std::integral T>
struct JsonForm<T> {
  static Json write(T value) { return value; }
  static bool read(const Json& json, T& value) {
    if (!json.is_number_integer()) return false;
    value = json.get<T>();
    return true;
  }
  static Json schema() { return {{"type", "integer"}}; }
};

template <>
struct JsonForm<bool> {
  static Json write(bool value) { return value; }
  static bool read(const Json& json, bool& value);
  static Json schema();
};

template <>
struct JsonForm<std::string> {
  static Json write(const std::string& value) { return value; }
  static bool read(const Json& json, std::string& value);
  static Json schema();
};

template <>
struct JsonForm<Value> {
  static Json write(const Value& value) { return to_json(value); }
  static bool read(const Json& json, Value& value);
  static Json schema();
};

template <>
struct JsonForm<Configuration> {
  static Json write(const Configuration& value) { return to_json(value); }
  static bool read(const Json& json, Configuration& value);
  /// Refers to the definition `configuration` of the document.
  static Json schema();
};

/// Adds null to the types that `schema` allows.
[[nodiscard]] Json or_null(Json schema);

/// Null if unset. Reading null keeps the value.
template <typename T>
struct JsonForm<std::optional<T>> {
  static Json write(const std::optional<T>& value) {
    return value ? JsonForm<T>::write(*value) : Json(nullptr);
  }
  static bool read(const Json& json, std::optional<T>& value) {
    if (json.is_null()) return true;
    T read{};
    if (!JsonForm<T>::read(json, read)) return false;
    value = std::move(read);
    return true;
  }
  static Json schema() { return or_null(JsonForm<T>::schema()); }
};

template <typename T>
struct JsonForm<std::vector<T>> {
  static Json write(const std::vector<T>& values) {
    Json json = Json::array();
    for (const T& value : values)
      json.push_back(JsonForm<T>::write(value));
    return json;
  }
  static bool read(const Json& json, std::vector<T>& values) {
    if (!json.is_array()) return false;
    values.clear();
    bool is_whole = true;
    for (const Json& each : json)
      is_whole = JsonForm<T>::read(each, values.emplace_back()) && is_whole;
    return is_whole;
  }
  static Json schema() { return {{"type", "array"}, {"items", JsonForm<T>::schema()}}; }
};

/// An object with a member for each name.
template <typename T>
struct JsonForm<std::map<std::string, T>> {
  static Json write(const std::map<std::string, T>& values) {
    Json json = Json::object();
    for (const auto& [name, value] : values)
      json[name] = JsonForm<T>::write(value);
    return json;
  }
  static bool read(const Json& json, std::map<std::string, T>& values) {
    if (!json.is_object()) return false;
    values.clear();
    bool is_whole = true;
    for (const auto& [name, value] : json.items())
      is_whole = JsonForm<T>::read(value, values[name]) && is_whole;
    return is_whole;
  }
  static Json schema() {
    return {{"type", "object"}, {"additionalProperties", JsonForm<T>::schema()}};
  }
};

/// An enum by its names: `template <> struct JsonForm<Color> : JsonNames<k_color_names> {};` An
/// unknown name, as from another version, leaves the value unchanged.
template <const auto& names>
struct JsonNames {
  using Enum = decltype(names.entries[0].first);
  static Json write(Enum value) { return names.name_of(value); }
  static bool read(const Json& json, Enum& value) {
    if (!json.is_string()) return false;
    value = names.value_of(json.get_ref<const std::string&>()).value_or(value);
    return true;
  }
  static Json schema() {
    Json schema;
    for (const auto& entry : names.entries)
      schema["enum"].push_back(entry.second);
    return schema;
  }
};

/// The fields of a result, each declared once. The history, the output of `--json` and its schema
/// use this one declaration.
template <typename T>
class JsonRecord {
 public:
  JsonRecord() = default;
  /// Records in other records refer to `definition`, a name in `$defs` of the schema.
  explicit JsonRecord(std::string definition) : definition_(std::move(definition)) {}

  /// Adds the field `name`. `doc` describes it in the schema.
  template <typename M>
  JsonRecord& field(std::string name, M T::*member, std::string doc = {}) {
    return add(
        {std::move(name), std::move(doc),
         [member](const T& value) { return JsonForm<M>::write(value.*member); },
         [member](const Json& json, T& value) { return JsonForm<M>::read(json, value.*member); },
         [] { return JsonForm<M>::schema(); }});
  }
  /// Adds numbers by a table of their names and members.
  template <std::size_t count>
  JsonRecord& numbers(const std::array<std::pair<std::string_view, double T::*>, count>& table) {
    for (const auto& [name, member] : table)
      field(std::string(name), member);
    return *this;
  }
  /// Adds the fields of a member as fields of the T itself.
  template <typename M>
  JsonRecord& fields_of(M T::*member, const JsonRecord<M>& record) {
    for (const auto& field : record.fields_) {
      add({field.name, field.doc,
           [member, write = field.write](const T& value) { return write(value.*member); },
           [member, read = field.read](const Json& json, T& value) {
             return read(json, value.*member);
           },
           field.schema});
    }
    return *this;
  }
  /// Adds a text that is null if empty.
  JsonRecord& text_or_null(std::string name, std::string T::*member, std::string doc = {}) {
    return add({std::move(name), std::move(doc),
                [member](const T& value) {
                  return (value.*member).empty() ? Json(nullptr) : Json(value.*member);
                },
                [member](const Json& json, T& value) {
                  return JsonForm<std::string>::read(json, value.*member);
                },
                [] { return JsonForm<std::optional<std::string>>::schema(); }});
  }
  /// Adds a value that `function` computes from a T. Reading ignores it.
  template <typename Function>
  JsonRecord& computed(std::string name, Function function, std::string doc = {}) {
    using M = std::remove_cvref_t<std::invoke_result_t<Function, const T&>>;
    return add(
        {std::move(name), std::move(doc),
         [function](const T& value) { return JsonForm<M>::write(std::invoke(function, value)); },
         [](const Json&, T&) { return true; }, [] { return JsonForm<M>::schema(); }});
  }
  /// Adds an object with some members of the same T.
  JsonRecord& group(std::string name, JsonRecord parts, std::string doc = {}) {
    return add({std::move(name), std::move(doc),
                [parts](const T& value) { return parts.write(value); },
                [parts](const Json& json, T& value) { return parts.read(json, value); },
                [parts] { return parts.schema(); }});
  }

  [[nodiscard]] Json write(const T& value) const {
    Json json = Json::object();
    for (const Field& field : fields_)
      json[field.name] = field.write(value);
    return json;
  }
  /// Reads the fields. Leaves members of `value` unchanged if their fields are missing or have
  /// another form. Returns false if a field has another form and is not null.
  bool read(const Json& json, T& value) const {
    if (!json.is_object()) return false;
    bool is_whole = true;
    for (const Field& field : fields_) {
      const auto found = json.find(field.name);
      if (found == json.end()) continue;
      is_whole = (field.read(*found, value) || found->is_null()) && is_whole;
    }
    return is_whole;
  }
  [[nodiscard]] Json schema() const {
    Json schema{{"type", "object"}, {"additionalProperties", true}, {"required", Json::array()}};
    for (const Field& field : fields_) {
      schema["required"].push_back(field.name);
      Json& property = schema["properties"][field.name] = field.schema();
      if (!field.doc.empty()) property["description"] = field.doc;
    }
    return schema;
  }
  /// Returns the schema, or a reference to the definition if there is one.
  [[nodiscard]] Json reference() const {
    return definition_.empty() ? schema() : Json({{"$ref", "#/$defs/" + definition_}});
  }

 private:
  template <typename Whole>
  friend class JsonRecord;
  struct Field {
    std::string name;
    std::string doc;
    std::function<Json(const T&)> write;
    std::function<bool(const Json&, T&)> read;
    std::function<Json()> schema;
  };
  JsonRecord& add(Field field) {
    fields_.push_back(std::move(field));
    return *this;
  }

  std::string definition_;
  std::vector<Field> fields_;
};

/// Returns `value` in the form that results have in JSON.
template <typename T>
[[nodiscard]] Json json_of(const T& value) {
  return JsonForm<T>::write(value);
}

}  // namespace steptune
