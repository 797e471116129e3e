// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/clock.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"
#include "trial_runner/sagemaker/sagemaker_runner.hpp"
#include "trial_runner/sagemaker/simulated_account/simulated_account.hpp"

namespace steptune::simulated {

/// The real runner on a simulated account: a study's tuning as it would go, hours in milliseconds.
/// A second runner may be made on the same account, as a tuner that starts again would.
class AccountConnection {
 public:
  /// `clock` outlives the connection.
  AccountConnection(VirtualClock& clock, ProgramModel program, const AccountOptions& account);

  /// A runner that outlives neither the connection nor the clock.
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
