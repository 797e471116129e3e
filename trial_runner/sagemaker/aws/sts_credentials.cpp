// SPDX-License-Identifier: Apache-2.0
// Credentials for a role: STS AssumeRole, web identity, SSO.
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "common/json_fields.hpp"
#include "common/sha256.hpp"
#include "trial_runner/sagemaker/aws/credentials.hpp"
#include "trial_runner/sagemaker/aws/credentials_json.hpp"

namespace steptune::aws {
namespace {

constexpr const char* k_sts_version = "2011-06-15";

std::optional<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

using Form = std::map<std::string, std::string>;

/// Makes one STS Query call; signs it if `keys` is not null.
Result<Credentials> call_sts(const CredentialsParts& parts, const Form& form,
                             const Credentials* keys, const std::string& source) {
  const auto endpoint =
      resolve_endpoint(parts.environment, parts.config, "STS", "sts", parts.region);
  if (!endpoint) return tl::unexpected(endpoint.error());
  HttpRequest request;
  request.scheme = endpoint->scheme;
  request.host = endpoint->host;
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}};
  for (const auto& [name, value] : form) {
    request.body += (request.body.empty() ? "" : "&") + name + "=" + percent_encoded(value);
  }
  if (keys != nullptr) sign(request, *keys, {parts.region, "sts", parts.clock.wall_time_s()});
  const auto response = parts.transport.send(request, HttpTimeouts{5.0, 20.0});
  if (!response) return tl::unexpected(response.error());
  if (response->status != 200) {
    return fail(
        ErrorKind::runner,
        fmt::format("{} was refused with HTTP status {}", form.at("Action"), response->status),
        source, "check the role's trust policy and the profile's settings");
  }
  return credentials_from_sts_xml(response->body, source);
}

/// Returns keys for a profile's role. `visited` breaks cycles of source profiles.
Result<Credentials> role_credentials(const CredentialsParts& parts, const std::string& profile,
                                     std::set<std::string>& visited);

Result<Credentials> source_credentials(const CredentialsParts& parts, const std::string& profile,
                                       std::set<std::string>& visited) {
  const std::string where = "profile " + profile;
  if (const auto kind = parts.config.setting(profile, "credential_source")) {
    Found found = std::nullopt;
    if (*kind == "Environment") found = environment_credentials(parts);
    if (*kind == "EcsContainer") found = container_credentials(parts);
    if (*kind == "Ec2InstanceMetadata") found = instance_credentials(parts);
    if (!found) return tl::unexpected(found.error());
    if (*found) return **std::move(found);
    return fail(ErrorKind::runner,
                fmt::format("credential_source {} provides no credentials", *kind), where);
  }
  const auto source = parts.config.setting(profile, "source_profile");
  if (!source) {
    return fail(ErrorKind::runner, "role_arn without source_profile or credential_source", where);
  }
  // If a profile names itself as source, use its static keys.
  if (*source != profile && parts.config.setting(*source, "role_arn")) {
    return role_credentials(parts, *source, visited);
  }
  Found found = static_profile_credentials(parts, *source);
  if (found && !*found) found = process_credentials(parts, *source);
  if (!found) return tl::unexpected(found.error());
  if (*found) return **std::move(found);
  return fail(ErrorKind::runner, fmt::format("source_profile {} has no credentials", *source),
              where);
}

Result<Credentials> role_credentials(const CredentialsParts& parts, const std::string& profile,
                                     std::set<std::string>& visited) {
  if (!visited.insert(profile).second) {
    return fail(ErrorKind::runner, "the source profiles form a cycle", "profile " + profile);
  }
  const auto setting = [&](const char* key) { return parts.config.setting(profile, key); };
  if (setting("mfa_serial")) {
    return fail(ErrorKind::runner, "the profile asks for an MFA code, which cannot be entered here",
                "profile " + profile,
                "get temporary keys first: `aws sts assume-role`, or use credential_process");
  }
  auto source = source_credentials(parts, profile, visited);
  if (!source) return source;
  Form form{{"Action", "AssumeRole"},
            {"Version", k_sts_version},
            {"RoleArn", setting("role_arn").value_or("")},
            {"RoleSessionName", setting("role_session_name").value_or("steptune")},
            {"DurationSeconds", setting("duration_seconds").value_or("3600")}};
  if (const auto external_id = setting("external_id")) form["ExternalId"] = *external_id;
  return call_sts(parts, form, &*source, "assumed role of profile " + profile);
}

std::string sha1_hex(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha1(), nullptr);
  return hex_digits({reinterpret_cast<const char*>(digest.data()), length});
}

/// SSO session of a profile: region, and key of the token in the cache.
struct SsoSession {
  std::string cache_key;
  std::string region;
};

std::optional<SsoSession> sso_session(const SharedConfig& config) {
  if (const auto name = config.setting(config.profile, "sso_session")) {
    const auto region = config.setting("sso-session " + *name, "sso_region");
    return SsoSession{*name, region.value_or("")};
  }
  const auto url = config.setting(config.profile, "sso_start_url");
  if (!url) return std::nullopt;
  return SsoSession{*url, config.setting(config.profile, "sso_region").value_or("")};
}

/// Returns the bearer token stored by `aws sso login`, if it has not expired.
Result<Secret> cached_sso_token(const CredentialsParts& parts, const SsoSession& session) {
  const auto path = home_directory(parts.environment).value_or("") / ".aws" / "sso" / "cache" /
                    (sha1_hex(session.cache_key) + ".json");
  const auto expired = [&] {
    return fail(ErrorKind::runner, "the SSO session has expired or was never started",
                "profile " + parts.config.profile,
                "run `aws sso login --profile " + parts.config.profile + "`");
  };
  const auto text = read_file(path);
  if (!text) return expired();
  const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("accessToken") || !json["accessToken"].is_string()) {
    return expired();
  }
  const auto until = json.contains("expiresAt") && json["expiresAt"].is_string()
                         ? parse_iso_time_s(json["expiresAt"].get<std::string>())
                         : std::nullopt;
  if (!until || *until <= parts.clock.wall_time_s()) return expired();
  return Secret(json["accessToken"].get<std::string>());
}

}  // namespace

Found assumed_role_credentials(const CredentialsParts& parts) {
  const std::string& profile = parts.config.profile;
  if (!parts.config.setting(profile, "role_arn")) return std::nullopt;
  if (parts.config.setting(profile, "web_identity_token_file")) return std::nullopt;
  std::set<std::string> visited;
  return optional_of(role_credentials(parts, profile, visited));
}

Found web_identity_credentials(const CredentialsParts& parts) {
  const auto either = [&](const char* variable, const char* key) {
    auto value = parts.environment(variable);
    return value ? value : parts.config.setting(parts.config.profile, key);
  };
  const auto file = either("AWS_WEB_IDENTITY_TOKEN_FILE", "web_identity_token_file");
  const auto role = either("AWS_ROLE_ARN", "role_arn");
  if (!file || !role) return std::nullopt;
  const auto token = read_file(*file);
  if (!token) return fail(ErrorKind::runner, "the web identity token cannot be read", *file);
  const auto name = either("AWS_ROLE_SESSION_NAME", "role_session_name");
  return optional_of(call_sts(parts,
                              {{"Action", "AssumeRoleWithWebIdentity"},
                               {"Version", k_sts_version},
                               {"RoleArn", *role},
                               {"RoleSessionName", name.value_or("steptune")},
                               {"WebIdentityToken", *token}},
                              nullptr, "web identity"));
}

Found sso_credentials(const CredentialsParts& parts) {
  const auto session = sso_session(parts.config);
  if (!session) return std::nullopt;
  const std::string& profile = parts.config.profile;
  const auto account = parts.config.setting(profile, "sso_account_id");
  const auto role = parts.config.setting(profile, "sso_role_name");
  if (!account || !role || session->region.empty()) {
    return fail(ErrorKind::runner, "sso_account_id, sso_role_name or sso_region is missing",
                "profile " + profile, "run `aws configure sso`");
  }
  const auto token = cached_sso_token(parts, *session);
  if (!token) return tl::unexpected(token.error());
  const auto endpoint =
      resolve_endpoint(parts.environment, parts.config, "SSO", "portal.sso", session->region);
  if (!endpoint) return tl::unexpected(endpoint.error());
  HttpRequest request;
  request.method = "GET";
  request.scheme = endpoint->scheme;
  request.host = endpoint->host;
  request.path = "/federation/credentials";
  request.query =
      "role_name=" + percent_encoded(*role) + "&account_id=" + percent_encoded(*account);
  request.headers = {{"x-amz-sso_bearer_token", token->reveal()}};
  const auto response = parts.transport.send(request, HttpTimeouts{5.0, 20.0});
  if (!response) return tl::unexpected(response.error());
  const Json json = Json::parse(response->body, nullptr, /*allow_exceptions=*/false);
  if (response->status != 200 || !json.is_object() || !json.contains("roleCredentials") ||
      !json["roleCredentials"].is_object()) {
    return fail(ErrorKind::runner,
                fmt::format("SSO returned no credentials (HTTP status {})", response->status),
                "profile " + profile, "run `aws sso login --profile " + profile + "`");
  }
  const Json& keys = json["roleCredentials"];
  Credentials credentials{text_at(keys, "accessKeyId"), Secret(text_at(keys, "secretAccessKey")),
                          Secret(text_at(keys, "sessionToken")), std::nullopt, "SSO"};
  if (keys.contains("expiration") && keys["expiration"].is_number()) {
    credentials.expiration_wall_s = keys["expiration"].get<double>() / 1e3;
  }
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) {
    return fail(ErrorKind::runner, "SSO returned no complete keys", "profile " + profile);
  }
  return credentials;
}

}  // namespace steptune::aws
