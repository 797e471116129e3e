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

/// What the credential providers reach out with; what is referred to outlives the chain.
struct CredentialsParts {
  Environment environment;
  SharedConfig config;
  HttpTransport& transport;
  const Clock& clock;
  std::string region;  ///< for regional STS
  std::function<Result<std::string>(const std::vector<std::string>&)> run_process;
};

/// A place where credentials may come from: nothing if it is not configured, an error if it is but
/// does not work. The chain stops at the first that is configured.
using Found = Result<std::optional<Credentials>>;

/// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN.
[[nodiscard]] Found environment_credentials(const CredentialsParts& parts);
/// A profile's `role_arn` with `source_profile` or `credential_source`: STS AssumeRole.
[[nodiscard]] Found assumed_role_credentials(const CredentialsParts& parts);
/// AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN, or the profile's: STS AssumeRoleWithWebIdentity.
[[nodiscard]] Found web_identity_credentials(const CredentialsParts& parts);
/// The profile's SSO session, from the token that `aws sso login` has cached.
[[nodiscard]] Found sso_credentials(const CredentialsParts& parts);
/// Keys of a profile in the shared credentials file or the config file.
[[nodiscard]] Found static_profile_credentials(const CredentialsParts& parts,
                                               const std::string& profile);
/// The profile's `credential_process`, run without a shell.
[[nodiscard]] Found process_credentials(const CredentialsParts& parts, const std::string& profile);
/// AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI (ECS, EKS, SageMaker notebooks).
[[nodiscard]] Found container_credentials(const CredentialsParts& parts);
/// The instance's role through IMDSv2.
[[nodiscard]] Found instance_credentials(const CredentialsParts& parts);

/// The standard order of botocore's resolver: environment, assumed role, web identity, SSO, shared
/// credentials, process, container, instance. Temporary keys are replaced before they expire.
/// Source: botocore/credentials.py create_credential_resolver; AWS SDKs and Tools Reference Guide.
class CredentialsChain {
 public:
  explicit CredentialsChain(CredentialsParts parts) : parts_(std::move(parts)) {}

  /// Keys that are good for at least some minutes. `refresh`: the held ones were refused. Where
  /// they have to be replaced, the shared files are read anew: the user may have renewed them
  /// there. The error lists what was tried.
  [[nodiscard]] Result<Credentials> get(bool refresh = false);

 private:
  [[nodiscard]] Result<Credentials> resolve() const;

  CredentialsParts parts_;
  bool resolved_ = false;  ///< once at least
  std::optional<Credentials> held_;
};

}  // namespace steptune::aws
