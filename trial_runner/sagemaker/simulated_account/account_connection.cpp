// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/account_connection.hpp"

#include <utility>

namespace steptune::simulated {
namespace {

aws::JsonService service(const char* name, const char* target, const char* host) {
  return {name, target, "application/x-amz-json-1.1", "https", host};
}

}  // namespace

AccountConnection::AccountConnection(VirtualClock& clock, ProgramModel program,
                                     const AccountOptions& account)
    : clock_(clock),
      account_(clock, std::move(program), account),
      limiter_(aws::sagemaker_rate_limiter()),
      rng_(account.seed, "rehearsal"),
      client_(
          {account_, clock_, limiter_, rng_,
           [](bool) -> Result<aws::Credentials> {
             return aws::Credentials{"SIMULATED", Secret("simulated"), Secret(""), {}, "simulated"};
           },
           [&clock](double time_s) { clock.advance_to(time_s); }, account.region}) {}

SageMakerConnection AccountConnection::services() {
  return {client_, service("sagemaker", "SageMaker", "api.sagemaker.simulated"),
          service("logs", "Logs_20140328", "logs.simulated"),
          [this](double time_s) { clock_.advance_to(time_s); },
          service("monitoring", "GraniteServiceVersion20100801", "monitoring.simulated")};
}

std::unique_ptr<SageMakerRunner> AccountConnection::make_runner(SageMakerOptions options) {
  return std::make_unique<SageMakerRunner>(clock_, services(), std::move(options));
}

}  // namespace steptune::simulated
