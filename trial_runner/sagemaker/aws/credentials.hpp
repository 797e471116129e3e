// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/environment.hpp"
#include "common/error.hpp"
#include "trial_runner/sagemaker/aws/http.hpp"
#include "trial_runner/sagemaker/aws/shared_config.hpp"
#include "trial_runner/sagemaker/aws/sigv4.hpp"

namespace steptune::aws {

/// Settings, network, clock and processes for the credential providers. Referenced objects outlive
/// the chain.
struct CredentialsParts {
  Environment environment;
  SharedConfig config;
  HttpTransport& transport;
  const Clock& clock;
  std::string region;  ///< region of the STS endpoint
  std::function<Result<std::string>(const std::vector<std::string>&)> run_process;
};

/// Result of one credential provider: nullopt if it is not configured, an error if it is configured
/// but fails. The chain stops at the first configured provider.
using Found = Result<std::optional<Credentials>>;
[[nodiscard]] inline Found optional_of(Result<Credentials> credentials) {
  if (!credentials) return tl::unexpected(credentials.error());
  return *std::move(credentials);
}

/// Reads the variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN.
[[nodiscard]] Found environment_credentials(const CredentialsParts& parts);
/// Calls STS AssumeRole for a profile's `role_arn` with `source_profile` or `credential_source`.
[[nodiscard]] Found assumed_role_credentials(const CredentialsParts& parts);
/// Calls STS AssumeRoleWithWebIdentity with AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN, or with
/// the profile's settings of the same meaning.
[[nodiscard]] Found web_identity_credentials(const CredentialsParts& parts);
/// Uses the profile's SSO session, with the token that `aws sso login` has cached.
[[nodiscard]] Found sso_credentials(const CredentialsParts& parts);
/// Reads the keys of a profile from the shared credentials file or the config file.
[[nodiscard]] Found static_profile_credentials(const CredentialsParts& parts,
                                               const std::string& profile);
/// Runs the profile's `credential_process` without a shell.
[[nodiscard]] Found process_credentials(const CredentialsParts& parts, const std::string& profile);
/// Asks the endpoint AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI (ECS, EKS, SageMaker
/// notebooks).
[[nodiscard]] Found container_credentials(const CredentialsParts& parts);
/// Gets the keys of the instance's role through IMDSv2.
[[nodiscard]] Found instance_credentials(const CredentialsParts& parts);

/// Tries providers in the order of botocore's resolver: environment, assumed role, web identity,
/// SSO, shared credentials, process, container, instance. Replaces temporary keys before they
/// expire. Source: botocore/credentials.py create_credential_resolver; AWS SDKs and Tools Reference
/// Guide.
class CredentialsChain {
 public:
  explicit CredentialsChain(CredentialsParts parts) : parts_(std::move(parts)) {}

  /// Returns keys. Replaces keys that expire within five minutes; if that fails, returns the
  /// current keys while they are valid. `refresh` is true if the service has refused the current
  /// keys. If keys must be replaced, reads the shared files again, because the user may have
  /// renewed the keys there. If no provider is configured, the error lists the places that were
  /// searched.
  [[nodiscard]] Result<Credentials> get(bool refresh = false);

 private:
  [[nodiscard]] Result<Credentials> resolve() const;

  CredentialsParts parts_;
  bool resolved_ = false;  ///< true once `resolve` has been called
  std::optional<Credentials> held_;
};

}  // namespace steptune::aws
