// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/environment.hpp"
#include "common/error.hpp"

namespace steptune::aws {

/// One section of a shared file: settings by lower-case name. Nested settings (indented under an
/// empty one, as in `services` sections) are named `outer.inner`.
using Section = std::map<std::string, std::string>;
using Sections = std::map<std::string, Section>;

/// Reads the INI dialect of AWS's shared files: `[name]`, `key = value`, `#` and `;` comments on
/// their own line or after a blank. Lines that are none of these are errors naming the line.
[[nodiscard]] Result<Sections> parse_shared_file(std::string_view text, const std::string& where);

/// `~/.aws/config` and `~/.aws/credentials` (or AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE), and
/// which profile is chosen (AWS_PROFILE, AWS_DEFAULT_PROFILE, `default`).
/// Source: AWS SDKs and Tools Reference Guide, "Shared config and credentials files".
struct SharedConfig {
  Sections config;  ///< `profile x` sections under `x`; `sso-session x`, `services x` as named
  Sections credentials;
  std::string profile;
  bool profile_was_named = false;  ///< by a variable, not by default

  /// A setting of a profile, credentials file first; nothing if absent.
  [[nodiscard]] std::optional<std::string> setting(const std::string& profile_name,
                                                   const std::string& key) const;
  [[nodiscard]] bool has_profile(const std::string& profile_name) const;
};

/// Missing files are empty; a profile that was named but exists nowhere is an error.
[[nodiscard]] Result<SharedConfig> read_shared_config(const Environment& environment);

/// AWS_REGION, AWS_DEFAULT_REGION, then the profile's; an error with advice if there is none.
[[nodiscard]] Result<std::string> resolve_region(const Environment& environment,
                                                 const SharedConfig& config);

struct Endpoint {
  std::string scheme;
  std::string host;  ///< with port where one is given
};

/// Where a service is reached: AWS_ENDPOINT_URL_<SERVICE>, AWS_ENDPOINT_URL, the profile's
/// `services` section, its `endpoint_url` (all but the last step skipped if
/// AWS_IGNORE_CONFIGURED_ENDPOINT_URLS is true), then the region's own host.
/// `service` is the name in the variables: `SAGEMAKER`, `CLOUDWATCH_LOGS`, `S3`, `STS`, `PRICING`;
/// `host_prefix` the public host's beginning: `api.sagemaker`, `logs`, `sts`.
[[nodiscard]] Result<Endpoint> resolve_endpoint(const Environment& environment,
                                                const SharedConfig& config,
                                                const std::string& service,
                                                const std::string& host_prefix,
                                                const std::string& region);

}  // namespace steptune::aws
