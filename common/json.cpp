// SPDX-License-Identifier: Apache-2.0
#include "common/json.hpp"

#include <cerrno>
#include <cmath>
#include <iterator>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "common/machine/system_files.hpp"
#include "common/system_reason.hpp"

namespace steptune {
namespace {

/// Thrown out of nlohmann's parser callback, which has no other way to refuse a document.
struct Refused {
  std::string message;
};

/// Refuses duplicate keys in an object and documents that are nested too deep.
class DocumentCheck {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
        check_depth(depth);
        keys_.emplace_back();
        break;
      case Json::parse_event_t::object_end:
        keys_.pop_back();
        break;
      case Json::parse_event_t::array_start:
        check_depth(depth);
        break;
      case Json::parse_event_t::key:
        if (!keys_.back().insert(parsed.get<std::string>()).second) {
          throw Refused{fmt::format("the key \"{}\" appears twice in the same object",
                                    parsed.get<std::string>())};
        }
        break;
      default:
        break;
    }
    return true;
  }

 private:
  /// `depth` is the number of objects and lists that are already open.
  static void check_depth(int depth) {
    if (depth >= k_max_nesting) {
      throw Refused{fmt::format("nested deeper than {} levels", k_max_nesting)};
    }
  }

  std::vector<std::set<std::string>> keys_;
};

Json printable(const Json& json) {
  if (json.is_number_float() && !std::isfinite(json.get<double>())) {
    const double number = json.get<double>();
    return std::isnan(number) ? "nan" : (number > 0 ? "inf" : "-inf");
  }
  if (!json.is_structured()) return json;
  Json copy = json;
  for (auto& element : copy)
    element = printable(element);
  return copy;
}

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& where) {
  if (text.size() > k_max_document_bytes) {
    return fail(ErrorKind::usage, fmt::format("larger than {} MiB", k_max_document_bytes >> 20),
                where);
  }
  try {
    return Json::parse(text, DocumentCheck{}, /*allow_exceptions=*/true, /*ignore_comments=*/true);
  } catch (const Refused& refused) {
    return fail(ErrorKind::usage, refused.message, where);
  } catch (const Json::exception& exception) {
    std::string reason = exception.what();
    const auto end_of_tag =
        reason.find("] ");  // "[json.exception.parse_error.101] parse error ..."
    if (end_of_tag != std::string::npos) reason.erase(0, end_of_tag + 2);
    return fail(ErrorKind::usage, "not valid JSON: " + reason, where);
  }
}

Result<Json> read_json_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return fail(ErrorKind::not_found, "is a directory, not a file", path.string());
  }
  const auto text = read_system_file(path, k_max_document_bytes + 1);
  if (!text) {
    const std::string reason = system_reason(errno);
    return fail(ErrorKind::not_found, "cannot be read: " + reason, path.string());
  }
  return parse_json(*text, path.string());
}

std::string dump_json(const Json& json, int indent) {
  return printable(json).dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

Json to_json(const Value& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

Json to_json(const Configuration& configuration) {
  Json json = Json::object();
  for (const auto& [name, value] : configuration.values())
    json[name] = to_json(value);
  return json;
}

Result<Value> value_from_json(const Json& json, const std::string& where) {
  if (json.is_boolean()) return Value{json.get<bool>()};
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX) {
    return fail(ErrorKind::usage, "the number is too large", where);
  }
  if (json.is_number_integer()) return Value{json.get<std::int64_t>()};
  if (json.is_number_float()) return Value{json.get<double>()};
  if (json.is_string()) return Value{json.get<std::string>()};
  return fail(ErrorKind::usage,
              fmt::format("expected a number, a string or true/false, not {}", json.type_name()),
              where);
}

Result<Configuration> configuration_from_json(const Json& json, const std::string& where) {
  if (!json.is_object()) {
    return fail(ErrorKind::usage,
                fmt::format("expected an object of parameter values, not {}", json.type_name()),
                where);
  }
  Configuration configuration;
  for (const auto& [name, element] : json.items()) {
    auto value = value_from_json(element, where + "/" + name);
    if (!value) return tl::unexpected(value.error());
    configuration.set(name, *std::move(value));
  }
  return configuration;
}

}  // namespace steptune
