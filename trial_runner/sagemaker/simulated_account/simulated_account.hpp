// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/clock.hpp"
#include "trial_runner/sagemaker/aws/http.hpp"
#include "trial_runner/sagemaker/simulated_account/account_options.hpp"
#include "trial_runner/sagemaker/simulated_account/audit.hpp"
#include "trial_runner/sagemaker/simulated_account/faults.hpp"
#include "trial_runner/sagemaker/simulated_account/logs.hpp"
#include "trial_runner/sagemaker/simulated_account/program.hpp"
#include "trial_runner/sagemaker/simulated_account/request_rates.hpp"
#include "trial_runner/sagemaker/simulated_account/training_service.hpp"

namespace steptune::simulated {

/// A simulated AWS account under a virtual clock: training jobs, warm pools, quotas, logs and
/// metrics. It is the transport of the real client, so pacing, retries and parsing are real, and
/// hours pass in milliseconds. It behaves like the tests' emulator (tests/sagemaker_emulator),
/// except that it checks no signatures, and a `ProgramModel` replaces real processes.
///
/// Events happen only during `send`, `advance_to` and `audit`. Results depend only on the options,
/// the model, and the requests with their times. Not thread safe. `clock` outlives the account.
///
/// Supports these operations with the members that the tuner sends: SageMaker Create-, Describe-,
/// List-, Stop-, UpdateTrainingJob; Logs FilterLogEvents; CloudWatch GetMetricData. Refuses all
/// other operations.
class SimulatedAccount final : public aws::HttpTransport {
 public:
  SimulatedAccount(VirtualClock& clock, ProgramModel program, AccountOptions options = {});

  /// Advances the clock by `request_latency_s`.
  [[nodiscard]] Result<aws::HttpResponse> send(const aws::HttpRequest& request,
                                               const aws::HttpTimeouts& timeouts) override;

  /// Advances the clock to `time_s` and carries out all events up to that time.
  void advance_to(double time_s);
  /// Advances the clock until no job runs and no pool waits, at most to `limit_s`. Returns true if
  /// nothing runs or waits.
  bool advance_until_quiet(double limit_s);
  /// Returns the time of the next event that needs no request; infinite if there is none.
  [[nodiscard]] double next_event_s() const { return service_.next_event_s(); }

  /// Returns the history of all jobs and pools so far.
  [[nodiscard]] AccountAudit audit();

 private:
  [[nodiscard]] Answer<Json> dispatch(const std::string& target, const Json& request);
  [[nodiscard]] aws::HttpResponse response(int status, std::string body);
  [[nodiscard]] aws::HttpResponse refusal(const ServiceError& error);
  [[nodiscard]] double service_wall_s() const;

  VirtualClock& clock_;
  ProgramModel program_;
  AccountOptions options_;
  double wall_minus_clock_s_ = 0.0;
  FaultScript faults_;
  RequestRates rates_;
  SimulatedLogs logs_;
  TrainingService service_;
  int requests_ = 0;
};

}  // namespace steptune::simulated
