// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "common/clock.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"
#include "trial_runner/sagemaker/aws/credentials.hpp"
#include "trial_runner/sagemaker/aws/shared_config.hpp"

namespace steptune::aws {

/// The services that are called, each with its protocol and its name in AWS's own settings.
enum class Service { sagemaker, logs, cloudwatch, pricing };

/// Everything that calling AWS takes, as this process's environment and the user's AWS files say:
/// region, endpoints, credentials, pacing. Not thread safe.
class Session {
 public:
  /// `region`: empty for the environment's. `clock` outlives the session; `wait_until` waits in
  /// real time. No request is made yet. Errors: no region, a profile that does not exist, files
  /// that cannot be read.
  [[nodiscard]] static Result<std::unique_ptr<Session>> open(const Clock& clock,
                                                             WaitUntil wait_until,
                                                             std::string region = {},
                                                             RetryPolicy policy = {});
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] JsonClient& client() { return *client_; }
  [[nodiscard]] const WaitUntil& wait_until() const { return wait_until_; }
  [[nodiscard]] const std::string& region() const { return region_; }
  /// How a service is reached. Prices are told in us-east-1 only, whatever the region.
  [[nodiscard]] Result<JsonService> service(Service service) const;

 private:
  Session(const Clock& clock, WaitUntil wait_until, SharedConfig config, std::string region,
          RetryPolicy policy);

  WaitUntil wait_until_;
  SharedConfig config_;
  std::string region_;
  CurlTransport transport_;
  RateLimiter limiter_;
  Rng rng_;
  std::unique_ptr<CredentialsChain> credentials_;
  std::unique_ptr<JsonClient> client_;
};

/// Waits in real time, in slices, until the clock reads the time asked for.
[[nodiscard]] WaitUntil wait_in_real_time(const Clock& clock);

}  // namespace steptune::aws
