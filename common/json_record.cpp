// SPDX-License-Identifier: Apache-2.0
#include "common/json_record.hpp"

#include "common/json_fields.hpp"
#include "common/numbers.hpp"

namespace steptune {

Json JsonForm<double>::write(double value) {
  return number_or_null(value);
}

void JsonForm<double>::read(const Json& json, double& value) {
  if (json.is_number()) value = json.get<double>();
  if (json.is_null()) value = k_nan;
}

Json JsonForm<double>::schema() {
  return {{"type", {"number", "null"}}};
}

void JsonForm<bool>::read(const Json& json, bool& value) {
  if (json.is_boolean()) value = json.get<bool>();
}

Json JsonForm<bool>::schema() {
  return {{"type", "boolean"}};
}

void JsonForm<std::string>::read(const Json& json, std::string& value) {
  if (json.is_string()) value = json.get<std::string>();
}

Json JsonForm<std::string>::schema() {
  return {{"type", "string"}};
}

void JsonForm<Value>::read(const Json& json, Value& value) {
  if (auto read = value_from_json(json, "result")) value = *std::move(read);
}

Json JsonForm<Value>::schema() {
  return {{"type", {"boolean", "number", "string"}}};
}

void JsonForm<Configuration>::read(const Json& json, Configuration& value) {
  if (auto read = configuration_from_json(json, "result")) value = *std::move(read);
}

Json JsonForm<Configuration>::schema() {
  return {{"$ref", "#/$defs/configuration"}};
}

Json or_null(Json schema) {
  if (const auto names = schema.find("enum"); names != schema.end()) {
    names->push_back(nullptr);
    return schema;
  }
  const auto type = schema.find("type");
  if (type == schema.end()) return {{"anyOf", {std::move(schema), {{"type", "null"}}}}};
  if (!type->is_array()) *type = Json::array({*type});
  for (const Json& each : *type) {
    if (each == "null") return schema;
  }
  type->push_back("null");
  return schema;
}

}  // namespace steptune
