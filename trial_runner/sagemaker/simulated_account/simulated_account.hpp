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

/// An AWS account that exists only under a virtual clock: training jobs, warm pools, quotas, logs,
/// metrics and objects behind the transport that the real client sends through, so that pacing,
/// signing, retries and parsing are the real ones and hours pass in milliseconds. It behaves as the
/// emulator of the tests does (tests/sagemaker_emulator), whose containers are real processes; here
/// a `ProgramModel` says what they would do.
///
/// Nothing happens behind the caller's back: what has become due is played by `send`, `advance_to`
/// and `audit`. Everything follows from the options, the model and the requests with their times.
/// Not thread safe. `clock` outlives it.
///
/// Operations: SageMaker Create-, Describe-, List-, Stop-, UpdateTrainingJob, ListTags; Logs
/// FilterLogEvents, GetLogEvents, DescribeLogStreams; CloudWatch GetMetricData; S3 PUT, HEAD and
/// DELETE of objects, whose content is not kept. Others are refused.
class SimulatedAccount final : public aws::HttpTransport {
 public:
  SimulatedAccount(VirtualClock& clock, ProgramModel program, AccountOptions options = {});

  /// Takes `request_latency_s` of the clock's time.
  [[nodiscard]] Result<aws::HttpResponse> send(const aws::HttpRequest& request,
                                               const aws::HttpTimeouts& timeouts) override;

  /// Sets the clock forward, playing what becomes due on the way.
  void advance_to(double time_s);
  /// Sets the clock forward until no job runs and no pool waits, at most to `limit_s`. True if all
  /// is quiet.
  bool advance_until_quiet(double limit_s);
  /// When something will happen by itself; infinite: never.
  [[nodiscard]] double next_event_s() const { return service_.next_event_s(); }

  /// What became of all jobs and pools by now.
  [[nodiscard]] AccountAudit audit();

 private:
  [[nodiscard]] Answer<Json> dispatch(const std::string& target, const Json& request);
  [[nodiscard]] Result<aws::HttpResponse> answer_json(const aws::HttpRequest& request);
  [[nodiscard]] aws::HttpResponse answer_object(const aws::HttpRequest& request);
  [[nodiscard]] aws::HttpResponse response(int status, std::string body);
  [[nodiscard]] aws::HttpResponse refusal(const ServiceError& error);
  [[nodiscard]] double service_wall_s() const;

  VirtualClock& clock_;
  ProgramModel program_;
  AccountOptions options_;
  double wall_less_clock_s_ = 0.0;
  FaultScript faults_;
  RequestRates rates_;
  SimulatedLogs logs_;
  TrainingService service_;
  std::map<std::string, std::size_t> objects_;  ///< path to size
  int requests_ = 0;
};

}  // namespace steptune::simulated
