// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/section_types.hpp"

#include <optional>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/sagemaker/region.hpp"

namespace steptune {
namespace {

using document::Type;

Type<std::string> with_schema(Type<std::string> type, const char* name, Json definition) {
  type.schema = [name, definition = std::move(definition)](Json& definitions) {
    definitions[name] = definition;
    return Json{{"$ref", fmt::format("#/$defs/{}", name)}};
  };
  return type;
}

}  // namespace

Type<std::string> named_string(std::size_t max_bytes) {
  return document::checked<std::string>(document::string(max_bytes),
                                        [](const std::string& value) -> std::optional<std::string> {
                                          if (!value.empty()) return std::nullopt;
                                          return "is empty; remove the key";
                                        });
}

Type<std::string> s3_uri() {
  return with_schema(named_string(), "s3_uri",
                     {{"type", "string"},
                      {"pattern", "^(https|s3)://[^/]+"},
                      {"description", "s3://bucket/prefix"}});
}

Type<std::string> file_system_id() {
  Type<std::string> type = named_string();
  type.schema = [](Json&) { return Json{{"type", "string"}, {"pattern", "^fs-[0-9a-f]{8,}$"}}; };
  return type;
}

Type<std::string> input_mode() {
  const Type<std::string> type = document::one_of({"File", "FastFile", "Pipe"});
  Json none;
  Json definition = type.schema(none);
  definition["description"] = "How data in S3 reaches the instances.";
  return with_schema(type, "input_mode", std::move(definition));
}

Type<std::string> region() {
  return document::checked<std::string>(
      named_string(),
      [](const std::string& name) -> std::optional<std::string> {
        if (is_region(name)) return std::nullopt;
        return fmt::format("\"{}\" is not a region such as us-east-1", printable_line(name, 60));
      },
      {{"pattern", "^[a-z0-9-]{1,40}$"}});
}

}  // namespace steptune
