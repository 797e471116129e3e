// SPDX-License-Identifier: Apache-2.0
#include "common/json_record.hpp"

#include "common/json_fields.hpp"
#include "common/numbers.hpp"

namespace steptune {

Json JsonForm<double>::write(double value) {
  return number_or_null(value);
}

bool JsonForm<double>::read(const Json& json, double& value) {
  if (json.is_number()) value = json.get<double>();
  if (json.is_null()) value = k_nan;
  return json.is_number() || json.is_null();
}

Json JsonForm<double>::schema() {
  return {{"type", {"number", "null"}}};
}

bool JsonForm<bool>::read(const Json& json, bool& value) {
  if (json.is_boolean()) value = json.get<bool>();
  return json.is_boolean();
}

Json JsonForm<bool>::schema() {
  return {{"type", "boolean"}};
}

bool JsonForm<std::string>::read(const Json& json, std::string& value) {
  if (json.is_string()) value = json.get<std::string>();
  return json.is_string();
}

Json JsonForm<std::string>::schema() {
  return {{"type", "string"}};
}

bool JsonForm<Value>::read(const Json& json, Value& value) {
  auto read = value_from_json(json, "result");
  if (!read) return false;
  value = *std::move(read);
  return true;
}

Json JsonForm<Value>::schema() {
  return {{"type", {"boolean", "number", "string"}}};
}

bool JsonForm<Configuration>::read(const Json& json, Configuration& value) {
  auto read = configuration_from_json(json, "result");
  if (!read) return false;
  value = *std::move(read);
  return true;
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
