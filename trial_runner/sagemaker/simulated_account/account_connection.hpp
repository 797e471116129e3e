// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/clock.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"
#include "trial_runner/sagemaker/sagemaker_runner.hpp"
#include "trial_runner/sagemaker/simulated_account/simulated_account.hpp"

namespace steptune::simulated {

/// Connects the real runner to a simulated account, so that hours of tuning pass in milliseconds. A
/// second runner on the same account acts like a restarted tuner.
class AccountConnection {
 public:
  /// `clock` outlives the connection.
  AccountConnection(VirtualClock& clock, ProgramModel program, const AccountOptions& account);

  /// Creates a runner; the connection and the clock must outlive it.
  [[nodiscard]] std::unique_ptr<SageMakerRunner> make_runner(SageMakerOptions options);

  [[nodiscard]] SimulatedAccount& account() { return account_; }
  [[nodiscard]] aws::JsonClient& client() { return client_; }
  [[nodiscard]] SageMakerConnection services();

 private:
  VirtualClock& clock_;
  SimulatedAccount account_;
  aws::RateLimiter limiter_;
  Rng rng_;
  aws::JsonClient client_;
};

}  // namespace steptune::simulated
