// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/simulated_account.hpp"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "trial_runner/sagemaker/simulated_account/metrics.hpp"

namespace steptune::simulated {
namespace {

std::string http_date(double wall_time_s) {
  const auto seconds = static_cast<std::time_t>(wall_time_s);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  constexpr const char* k_days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* k_months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", k_days[utc.tm_wday], utc.tm_mday,
                     k_months[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

/// Returns `CreateTrainingJob` for `SageMaker.CreateTrainingJob`.
std::string operation_of(const std::string& target) {
  return target.substr(std::min(target.find('.') + 1, target.size()));
}

tl::unexpected<Error> no_answer() {
  return fail(ErrorKind::unavailable, "the connection was reset", {}, "try again later");
}

}  // namespace

SimulatedAccount::SimulatedAccount(VirtualClock& clock, ProgramModel program,
                                   AccountOptions options)
    : clock_(clock),
      program_(std::move(program)),
      options_(std::move(options)),
      wall_minus_clock_s_(clock.wall_time_s() - clock.now_s() + options_.clock_ahead_s),
      faults_(options_.faults, options_.seed),
      rates_(options_.requests_per_second),
      logs_(options_.logs, wall_minus_clock_s_),
      service_({options_, program_, faults_, logs_}, wall_minus_clock_s_) {}

double SimulatedAccount::service_wall_s() const {
  return clock_.now_s() + wall_minus_clock_s_;
}

void SimulatedAccount::advance_to(double time_s) {
  const double until_s = std::max(time_s, clock_.now_s());
  service_.play_until(until_s);
  clock_.advance_to(until_s);
}

bool SimulatedAccount::advance_until_quiet(double limit_s) {
  advance_to(clock_.now_s());
  while (!service_.quiet() && service_.next_event_s() <= limit_s)
    advance_to(service_.next_event_s());
  return service_.quiet();
}

AccountAudit SimulatedAccount::audit() {
  advance_to(clock_.now_s());
  AccountAudit audit;
  audit.now_s = clock_.now_s();
  audit.requests = requests_;
  audit.refused = rates_.refused();
  audit.most_per_second = rates_.most_per_second();
  service_.audit(audit, clock_.now_s());
  return audit;
}

aws::HttpResponse SimulatedAccount::response(int status, std::string body) {
  return {status,
          {{"x-amzn-RequestId", fmt::format("simulated-{}", requests_)},
           {"Date", http_date(service_wall_s())},
           {"Content-Type", "application/x-amz-json-1.1"}},
          std::move(body)};
}

aws::HttpResponse SimulatedAccount::refusal(const ServiceError& error) {
  return response(error.http_status, dump_json(error.body()));
}

Result<aws::HttpResponse> SimulatedAccount::send(const aws::HttpRequest& request,
                                                 const aws::HttpTimeouts& /*timeouts*/) {
  ++requests_;
  advance_to(clock_.now_s() + options_.request_latency_s);
  const auto header = std::ranges::find_if(
      request.headers, [](const auto& each) { return each.first == "X-Amz-Target"; });
  const std::string target = header == request.headers.end() ? std::string() : header->second;
  const std::string operation = operation_of(target);
  const Json input = Json::parse(request.body, nullptr, /*allow_exceptions=*/false);
  if (!input.is_object()) {
    return refusal({"SerializationException", "the body is not a JSON object"});
  }
  if (!rates_.admit(operation, clock_.now_s())) {
    return refusal({"ThrottlingException", "Rate exceeded"});
  }
  const auto fault = faults_.for_request(operation, request.body);
  if (fault == FaultKind::throttle) return refusal({"ThrottlingException", "Rate exceeded"});
  if (fault == FaultKind::internal_error) return refusal({"InternalFailure", "", 500});
  if (fault == FaultKind::expired_credentials) {
    return refusal(
        {"ExpiredTokenException", "The security token included in the request is expired", 403});
  }
  if (fault == FaultKind::denied) {
    return refusal({"AccessDeniedException",
                    fmt::format("the identity is not authorized to perform {}", operation)});
  }
  if (fault == FaultKind::unknown_job) {
    return refusal({"ValidationException", "Requested resource not found."});
  }
  if (fault == FaultKind::no_connection) return no_answer();
  const Answer<Json> answer = dispatch(target, input);
  if (fault == FaultKind::drop_response) return no_answer();
  if (!answer) return refusal(answer.error());
  // Do not use `dump_json`, which copies the document: all numbers are finite, and all texts came
  // from JSON.
  std::string body = answer->is_null() ? std::string() : answer->dump();
  if (fault == FaultKind::truncate) body.resize(std::max<std::size_t>(1, body.size() / 2), '{');
  return response(200, std::move(body));
}

Answer<Json> SimulatedAccount::dispatch(const std::string& target, const Json& request) {
  const std::string operation = operation_of(target);
  try {
    if (target.starts_with("SageMaker.")) {
      return service_.handle(operation, request, clock_.now_s());
    }
    if (target.starts_with("Logs_20140328.")) {
      return logs_.handle(operation, request, clock_.now_s());
    }
    if (target == "GraniteServiceVersion20100801.GetMetricData") {
      return get_metric_data(service_, options_, wall_minus_clock_s_, request, clock_.now_s());
    }
  } catch (const Json::exception& exception) {
    return refuse("SerializationException", exception.what());
  }
  return refuse("UnknownOperationException", fmt::format("Unknown operation {}", target));
}

}  // namespace steptune::simulated
