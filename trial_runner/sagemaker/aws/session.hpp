// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "common/clock.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"
#include "trial_runner/sagemaker/aws/credentials.hpp"
#include "trial_runner/sagemaker/aws/shared_config.hpp"

namespace steptune::aws {

/// The AWS services that this program calls.
enum class Service { sagemaker, logs, cloudwatch, pricing };

/// Region, endpoints, credentials and pacing for calls to AWS, from this process's environment and
/// the user's AWS files. Not thread safe.
class Session {
 public:
  /// Opens a session without sending a request. If `region` is empty, uses `resolve_region`.
  /// `clock` is the system's clock and outlives the session. Returns an error if there is no
  /// region, if the profile does not exist, or if files cannot be parsed.
  [[nodiscard]] static Result<std::unique_ptr<Session>> open(const Clock& clock, std::string region,
                                                             RetryPolicy policy = {});
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] JsonClient& client() { return *client_; }
  /// Returns a function that waits until the clock reads the given time.
  [[nodiscard]] const WaitUntil& wait_until() const { return wait_until_; }
  [[nodiscard]] const std::string& region() const { return region_; }
  /// Returns name, endpoint and region of a service. Prices always come from us-east-1.
  [[nodiscard]] Result<JsonService> service(Service service) const;

 private:
  Session(const Clock& clock, SharedConfig config, std::string region, RetryPolicy policy);

  WaitUntil wait_until_;
  SharedConfig config_;
  std::string region_;
  CurlTransport transport_;
  RateLimiter limiter_;
  Rng rng_;
  std::unique_ptr<CredentialsChain> credentials_;
  std::unique_ptr<JsonClient> client_;
};

}  // namespace steptune::aws
