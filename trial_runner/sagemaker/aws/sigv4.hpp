// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/secret.hpp"
#include "trial_runner/sagemaker/aws/http.hpp"

namespace steptune::aws {

/// Keys of an AWS identity.
struct Credentials {
  std::string access_key_id;
  Secret secret_access_key;
  Secret session_token;                     ///< empty for long-term keys
  std::optional<double> expiration_wall_s;  ///< seconds since 1970; nullopt: does not expire
  std::string source;                       ///< origin of the keys, for people: `environment`
};

struct SigningScope {
  std::string region;   ///< `us-east-1`
  std::string service;  ///< signing name: `sagemaker`, `logs`, `s3`, `sts`, `pricing`
  double wall_time_s = 0.0;
};

/// Signs a request: adds the headers X-Amz-Date, Authorization, X-Amz-Security-Token (for temporary
/// keys) and X-Amz-Content-Sha256 (for `s3`). Replaces existing headers of these names, so that a
/// retry gets a new signature. Source: AWS Signature Version 4 (AWS General Reference, "Signing AWS
/// API requests"). Normalises the path as that document requires; leaves paths of `s3` unchanged.
void sign(HttpRequest& request, const Credentials& credentials, const SigningScope& scope);

/// Returns the canonical request whose hash is signed, for tests and to diagnose refused
/// signatures. It contains no secret except a session token.
[[nodiscard]] std::string canonical_request(const HttpRequest& request, std::string_view service,
                                            std::string_view payload_hash);

}  // namespace steptune::aws
