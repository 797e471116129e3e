// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/environment.hpp"
#include "common/error.hpp"

namespace steptune::aws {

/// Settings of one section of a shared file, by lower-case name. A setting that is indented below
/// an empty one (as in `services` sections) is named `outer.inner`.
using Section = std::map<std::string, std::string>;
using Sections = std::map<std::string, Section>;

/// Parses the INI dialect of AWS's shared files: `[name]`, `key = value`, and comments with `#` or
/// `;` at the start of a line or after a blank. Any other line is an error with the line's number.
[[nodiscard]] Result<Sections> parse_shared_file(std::string_view text, const std::string& where);

/// Content of `~/.aws/config` and `~/.aws/credentials` (or AWS_CONFIG_FILE,
/// AWS_SHARED_CREDENTIALS_FILE), and the chosen profile (AWS_PROFILE, AWS_DEFAULT_PROFILE,
/// `default`). Source: AWS SDKs and Tools Reference Guide, "Shared config and credentials files".
struct SharedConfig {
  /// `profile x` sections are under `x`; `sso-session x` and `services x` keep their names.
  Sections config;
  Sections credentials;
  std::string profile;

  /// Returns a profile's setting; nullopt if absent or empty. The credentials file has precedence.
  [[nodiscard]] std::optional<std::string> setting(const std::string& profile_name,
                                                   const std::string& key) const;
  [[nodiscard]] bool has_profile(const std::string& profile_name) const;
};

/// Reads the files. Missing files count as empty. Returns an error if a file is malformed, or if
/// the user has named a profile that does not exist.
[[nodiscard]] Result<SharedConfig> read_shared_config(const Environment& environment);

/// Returns the first region that is set: AWS_REGION, AWS_DEFAULT_REGION, the profile's region. If
/// none is set, returns an error with advice.
[[nodiscard]] Result<std::string> resolve_region(const Environment& environment,
                                                 const SharedConfig& config);

struct Endpoint {
  std::string scheme;
  std::string host;  ///< with the port if one is given
};

/// Returns the first endpoint of a service that is set: AWS_ENDPOINT_URL_<SERVICE>,
/// AWS_ENDPOINT_URL, the profile's `services` section, its `endpoint_url`, the region's own host.
/// If AWS_IGNORE_CONFIGURED_ENDPOINT_URLS is true, only the region's own host counts. `service` is
/// the part of the variable's name: `SAGEMAKER`, `CLOUDWATCH_LOGS`, `S3`, `STS`, `PRICING`.
/// `host_prefix` is the beginning of the public host: `api.sagemaker`, `logs`, `sts`.
[[nodiscard]] Result<Endpoint> resolve_endpoint(const Environment& environment,
                                                const SharedConfig& config,
                                                const std::string& service,
                                                const std::string& host_prefix,
                                                const std::string& region);

}  // namespace steptune::aws
