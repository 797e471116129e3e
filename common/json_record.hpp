// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
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

/// Form of a value of a result in JSON. `read` keeps the value if the JSON has another form, which
/// other versions or damaged files may have. `schema` is a JSON Schema of the form.
template <typename T>
struct JsonForm {
  static Json write(const T& value) { return json_record<T>().write(value); }
  static void read(const Json& json, T& value) { json_record<T>().read(json, value); }
  static Json schema() { return json_record<T>().schema(); }
};

/// A number that is not finite is null, because JSON has neither NaN nor infinity. Null reads as
/// NaN.
template <>
struct JsonForm<double> {
  static Json write(double value);
  static void read(const Json& json, double& value);
  static Json schema();
};

template <>
struct JsonForm<std::int64_t> {
  static Json write(std::int64_t value) { return value; }
  static void read(const Json& json, std::int64_t& value);
  static Json schema();
};

template <>
struct JsonForm<int> {
  static Json write(int value) { return value; }
  static void read(const Json& json, int& value);
  static Json schema() { return JsonForm<std::int64_t>::schema(); }
};

template <>
struct JsonForm<std::string> {
  static Json write(const std::string& value) { return value; }
  static void read(const Json& json, std::string& value);
  static Json schema();
};

template <>
struct JsonForm<Value> {
  static Json write(const Value& value) { return to_json(value); }
  static void read(const Json& json, Value& value);
  static Json schema();
};

template <>
struct JsonForm<Configuration> {
  static Json write(const Configuration& value) { return to_json(value); }
  static void read(const Json& json, Configuration& value);
  /// Refers to the definition `configuration` of the document.
  static Json schema();
};

/// Adds null to the types that `schema` allows.
[[nodiscard]] Json or_null(Json schema);

/// Null if unset.
template <typename T>
struct JsonForm<std::optional<T>> {
  static Json write(const std::optional<T>& value) {
    return value ? JsonForm<T>::write(*value) : Json(nullptr);
  }
  static void read(const Json& json, std::optional<T>& value) {
    if (json.is_null()) return;
    T read{};
    JsonForm<T>::read(json, read);
    value = std::move(read);
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
  static void read(const Json& json, std::vector<T>& values) {
    if (!json.is_array()) return;
    values.clear();
    for (const Json& each : json)
      JsonForm<T>::read(each, values.emplace_back());
  }
  static Json schema() { return {{"type", "array"}, {"items", JsonForm<T>::schema()}}; }
};

/// The fields of a result, each declared once. The form in the history, the output of `--json` and
/// its schema follow from the declaration.
template <typename T>
class JsonRecord {
 public:
  /// Adds the field `name`. `doc` describes it in the schema.
  template <typename M>
  JsonRecord& field(std::string name, M T::*member, std::string doc = {}) {
    return add({std::move(name), std::move(doc),
                [member](const T& value) { return JsonForm<M>::write(value.*member); },
                [member](const Json& json, T& value) { JsonForm<M>::read(json, value.*member); },
                [] { return JsonForm<M>::schema(); }});
  }
  /// Adds a text that is null if empty.
  JsonRecord& text_or_null(std::string name, std::string T::*member, std::string doc = {}) {
    return add(
        {std::move(name), std::move(doc),
         [member](const T& value) {
           return (value.*member).empty() ? Json(nullptr) : Json(value.*member);
         },
         [member](const Json& json, T& value) { JsonForm<std::string>::read(json, value.*member); },
         [] { return JsonForm<std::optional<std::string>>::schema(); }});
  }
  /// Adds an enum by its names, which must have static storage.
  template <typename Enum, std::size_t count>
  JsonRecord& name(std::string field, Enum T::*member, const EnumNames<Enum, count>& names,
                   std::string doc = {}) {
    return add({std::move(field), std::move(doc),
                [member, &names](const T& value) { return Json(names.name_of(value.*member)); },
                [member, &names](const Json& json, T& value) {
                  if (!json.is_string()) return;
                  const auto& text = json.get_ref<const std::string&>();
                  value.*member = names.value_of(text).value_or(value.*member);
                },
                [&names] {
                  Json schema;
                  for (const auto& entry : names.entries)
                    schema["enum"].push_back(entry.second);
                  return schema;
                }});
  }
  /// Adds an object with some members of the same T.
  JsonRecord& group(std::string name, JsonRecord parts, std::string doc = {}) {
    return add({std::move(name), std::move(doc),
                [parts](const T& value) { return parts.write(value); },
                [parts](const Json& json, T& value) { parts.read(json, value); },
                [parts] { return parts.schema(); }});
  }

  [[nodiscard]] Json write(const T& value) const {
    Json json = Json::object();
    for (const Field& field : fields_)
      json[field.name] = field.write(value);
    return json;
  }
  /// Keeps the members of `value` whose fields are missing or have another form.
  void read(const Json& json, T& value) const {
    if (!json.is_object()) return;
    for (const Field& field : fields_) {
      if (const auto found = json.find(field.name); found != json.end()) field.read(*found, value);
    }
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

 private:
  struct Field {
    std::string name;
    std::string doc;
    std::function<Json(const T&)> write;
    std::function<void(const Json&, T&)> read;
    std::function<Json()> schema;
  };
  JsonRecord& add(Field field) {
    fields_.push_back(std::move(field));
    return *this;
  }

  std::vector<Field> fields_;
};

}  // namespace steptune
