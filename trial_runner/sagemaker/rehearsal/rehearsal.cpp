// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/rehearsal/rehearsal.hpp"

#include <utility>

namespace steptune::rehearsal {
namespace {

aws::JsonService service(const char* name, const char* target, const char* host) {
  return {name, target, "application/x-amz-json-1.1", "https", host};
}

}  // namespace

Rehearsal::Rehearsal(VirtualClock& clock, ProgramModel program, AccountOptions account)
    : clock_(clock),
      account_(clock, std::move(program), account),
      limiter_(aws::sagemaker_rate_limiter()),
      rng_(account.seed, "rehearsal"),
      client_(
          {account_, clock_, limiter_, rng_,
           [](bool) -> Result<aws::Credentials> {
             return aws::Credentials{"REHEARSAL", Secret("rehearsal"), Secret(""), {}, "rehearsal"};
           },
           [&clock](double time_s) {
             clock.advance_to(time_s);
             return true;
           },
           account.region}) {}

SageMakerConnection Rehearsal::connection() {
  return {client_, service("sagemaker", "SageMaker", "api.sagemaker.rehearsal"),
          service("logs", "Logs_20140328", "logs.rehearsal"),
          [this](double time_s) {
            clock_.advance_to(time_s);
            return true;
          },
          service("monitoring", "GraniteServiceVersion20100801", "monitoring.rehearsal")};
}

std::unique_ptr<SageMakerRunner> Rehearsal::make_runner(SageMakerOptions options) {
  return std::make_unique<SageMakerRunner>(clock_, connection(), std::move(options));
}

}  // namespace steptune::rehearsal
