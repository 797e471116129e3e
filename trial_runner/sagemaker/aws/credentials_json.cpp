// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/aws/credentials_json.hpp"

#include <ctime>

#include "common/json_fields.hpp"

namespace steptune::aws {
namespace {

Result<Credentials> complete(Credentials credentials, const std::string& expiration) {
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) {
    return fail(ErrorKind::runner, "the response has no complete AWS keys", credentials.source);
  }
  if (!expiration.empty()) {
    credentials.expiration_wall_s = parse_iso_time_s(expiration);
    if (!credentials.expiration_wall_s) {
      return fail(ErrorKind::runner, "the expiration is not an ISO 8601 time", credentials.source);
    }
  }
  return credentials;
}

/// Returns the text of the first `<name>` element; empty if there is none. Sufficient for STS,
/// whose relevant elements have no attributes or entities.
std::string element(const std::string& xml, const std::string& name) {
  const std::string open = "<" + name + ">";
  const auto begin = xml.find(open);
  if (begin == std::string::npos) return {};
  const auto end = xml.find("</" + name + ">", begin);
  if (end == std::string::npos) return {};
  return xml.substr(begin + open.size(), end - begin - open.size());
}

}  // namespace

std::optional<double> parse_iso_time_s(std::string_view text) {
  std::tm utc{};
  const std::string time(text);
  const char* rest = strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &utc);
  if (rest == nullptr) return std::nullopt;
  const std::string_view zone(rest);
  if (!zone.ends_with('Z') && !zone.ends_with("+00:00") && !zone.ends_with("UTC")) {
    return std::nullopt;
  }
  return static_cast<double>(timegm(&utc));
}

Result<Credentials> credentials_from_json(const std::string& text, const std::string& source) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return fail(ErrorKind::runner, "the response is not a JSON object", source);
  std::string token = text_at(json, "SessionToken");
  if (token.empty()) token = text_at(json, "Token");
  return complete({text_at(json, "AccessKeyId"), Secret(text_at(json, "SecretAccessKey")),
                   Secret(token), std::nullopt, source},
                  text_at(json, "Expiration"));
}

Result<Credentials> credentials_from_sts_xml(const std::string& text, const std::string& source) {
  const std::string keys = element(text, "Credentials");
  return complete({element(keys, "AccessKeyId"), Secret(element(keys, "SecretAccessKey")),
                   Secret(element(keys, "SessionToken")), std::nullopt, source},
                  element(keys, "Expiration"));
}

}  // namespace steptune::aws
