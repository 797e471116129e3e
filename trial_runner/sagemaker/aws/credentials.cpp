// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/aws/credentials.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "trial_runner/sagemaker/aws/credentials_json.hpp"
#include "trial_runner/sagemaker/aws/process_output.hpp"

namespace steptune::aws {
namespace {

/// Keys are replaced this many seconds before they expire, so that they never expire during a
/// request.
constexpr double k_refresh_margin_s = 300.0;

std::optional<Credentials> keys_in(const Sections& sections, const std::string& profile,
                                   const std::string& source) {
  const auto section = sections.find(profile);
  if (section == sections.end()) return std::nullopt;
  const auto value = [&](const char* key) {
    const auto found = section->second.find(key);
    return found == section->second.end() ? std::string{} : found->second;
  };
  if (value("aws_access_key_id").empty() || value("aws_secret_access_key").empty()) {
    return std::nullopt;
  }
  return Credentials{value("aws_access_key_id"), Secret(value("aws_secret_access_key")),
                     Secret(value("aws_session_token")), std::nullopt, source};
}

}  // namespace

Found environment_credentials(const CredentialsParts& parts) {
  const auto id = parts.environment("AWS_ACCESS_KEY_ID");
  if (!id) return std::nullopt;
  const auto secret = parts.environment("AWS_SECRET_ACCESS_KEY");
  if (!secret) {
    return fail(ErrorKind::runner, "AWS_ACCESS_KEY_ID is set but AWS_SECRET_ACCESS_KEY is not");
  }
  auto token = parts.environment("AWS_SESSION_TOKEN");
  if (!token) token = parts.environment("AWS_SECURITY_TOKEN");
  Credentials credentials{*id, Secret(*secret), Secret(token.value_or("")), {}, "environment"};
  if (const auto expiration = parts.environment("AWS_CREDENTIAL_EXPIRATION")) {
    credentials.expiration_wall_s = parse_iso_time_s(*expiration);
  }
  return credentials;
}

Found static_profile_credentials(const CredentialsParts& parts, const std::string& profile) {
  if (auto keys = keys_in(parts.config.credentials, profile, "shared credentials file")) {
    return keys;
  }
  return keys_in(parts.config.config, profile, "config file");
}

Found process_credentials(const CredentialsParts& parts, const std::string& profile) {
  const auto command = parts.config.setting(profile, "credential_process");
  if (!command) return std::nullopt;
  const std::string source = "credential_process of profile " + profile;
  const auto words = split_words(*command);
  if (!words) return fail(ErrorKind::runner, words.error().message, source);
  const auto output = parts.run_process(*words);
  if (!output) return fail(ErrorKind::runner, output.error().message, source);
  return optional_of(credentials_from_json(*output, source));
}

Result<Credentials> CredentialsChain::resolve() const {
  const std::string& profile = parts_.config.profile;
  const std::array<std::function<Found()>, 8> providers{
      [&] { return environment_credentials(parts_); },
      [&] { return assumed_role_credentials(parts_); },
      [&] { return web_identity_credentials(parts_); },
      [&] { return sso_credentials(parts_); },
      [&] { return static_profile_credentials(parts_, profile); },
      [&] { return process_credentials(parts_, profile); },
      [&] { return container_credentials(parts_); },
      [&] { return instance_credentials(parts_); }};
  for (const auto& provider : providers) {
    auto found = provider();
    if (!found) return tl::unexpected(found.error());
    if (*found) return **std::move(found);
  }
  return fail(ErrorKind::runner,
              fmt::format("no AWS credentials: none in the environment, in profile \"{}\", in a "
                          "container or on the instance",
                          profile),
              {},
              "run `aws configure` or `aws sso login`, or set AWS_ACCESS_KEY_ID and "
              "AWS_SECRET_ACCESS_KEY");
}

Result<Credentials> CredentialsChain::get(bool refresh) {
  const bool good =
      held_ && (!held_->expiration_wall_s ||
                *held_->expiration_wall_s - parts_.clock.wall_time_s() > k_refresh_margin_s);
  if (good && !refresh) return *held_;
  if (std::exchange(resolved_, true)) {
    if (auto files = read_shared_config(parts_.environment)) parts_.config = *std::move(files);
  }
  auto fresh = resolve();
  if (fresh) {
    held_ = *fresh;
    return fresh;
  }
  // The provider may fail only for a moment, so use the current keys while they are valid.
  const bool still_valid = held_ && !refresh && held_->expiration_wall_s &&
                           *held_->expiration_wall_s > parts_.clock.wall_time_s();
  if (still_valid) return *held_;
  return fresh;
}

}  // namespace steptune::aws
