// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/aws/client.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "common/pause.hpp"
#include "common/text.hpp"

namespace steptune::aws {
namespace {

template <std::size_t Size>
bool one_of(const std::string& code, const std::array<const char*, Size>& codes) {
  return std::any_of(codes.begin(), codes.end(), [&](const char* known) { return code == known; });
}

constexpr std::array k_throttling_codes{"Throttling",
                                        "ThrottlingException",
                                        "ThrottledException",
                                        "RequestThrottled",
                                        "RequestThrottledException",
                                        "TooManyRequestsException",
                                        "RequestLimitExceeded",
                                        "BandwidthLimitExceeded",
                                        "LimitExceededException",
                                        "SlowDown"};
constexpr std::array k_transient_codes{"RequestTimeout",
                                       "RequestTimeoutException",
                                       "InternalFailure",
                                       "InternalServerError",
                                       "InternalError",
                                       "ServiceUnavailable",
                                       "ServiceUnavailableException",
                                       "PriorRequestNotComplete"};
constexpr std::array k_expired_codes{"ExpiredToken", "ExpiredTokenException", "RequestExpired",
                                     "UnrecognizedClientException"};
constexpr std::array k_signature_codes{"SignatureDoesNotMatch", "InvalidSignatureException",
                                       "InvalidClientTokenId", "IncompleteSignature"};
constexpr std::array k_skew_codes{"RequestTimeTooSkewed",      "SignatureDoesNotMatch",
                                  "InvalidSignatureException", "RequestExpired",
                                  "RequestInTheFuture",        "AuthFailure"};

/// Parses an HTTP `Date` (`Sat, 21 Nov 2026 08:00:00 GMT`) into seconds since 1970.
std::optional<double> http_date_s(std::string_view text) {
  std::tm utc{};
  const std::string date(text);
  if (strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &utc) == nullptr) return std::nullopt;
  return static_cast<double>(timegm(&utc));
}

AwsError client_error(const std::string& operation, std::string code, std::string message) {
  AwsError error;
  error.operation = operation;
  error.code = std::move(code);
  error.message = std::move(message);
  return error;
}

/// Returns advice for the user on an error; empty if there is no advice.
std::string advice_for(const AwsError& error) {
  if (error.code == "NoResponse") return "check the network, the region and AWS_ENDPOINT_URL";
  if (error.code == "AccessDeniedException" || error.code == "AccessDenied") {
    return fmt::format("allow {} in the IAM policy of these credentials, or use others",
                       error.operation);
  }
  if (one_of(error.code, k_expired_codes)) {
    return "renew the credentials, e.g. with `aws sso login`, and check AWS_PROFILE";
  }
  if (one_of(error.code, k_signature_codes)) {
    return "check AWS_PROFILE, the access key and its secret";
  }
  return {};
}

}  // namespace

Error AwsError::to_error() const {
  const bool try_later = is_throttling(*this) || is_transient(*this);
  std::string text = fmt::format("{}: {}", code, printable_line(message, 600));
  if (attempts > 1) text += fmt::format(" (after {} attempts)", attempts);
  if (!request_id.empty()) text += fmt::format(" [request {}]", printable_line(request_id, 80));
  return Error{try_later ? ErrorKind::unavailable : ErrorKind::runner, std::move(text), operation,
               advice_for(*this)};
}

bool is_throttling(const AwsError& error) {
  return one_of(error.code, k_throttling_codes) || error.http_status == 429;
}

bool is_transient(const AwsError& error) {
  return error.outcome_unknown() || error.http_status >= 500 ||
         one_of(error.code, k_transient_codes);
}

AwsError parse_error_response(const HttpResponse& response, const std::string& operation) {
  AwsError error;
  error.operation = operation;
  error.http_status = response.status;
  error.request_id = response.header("x-amzn-RequestId");
  error.code = response.header("x-amzn-ErrorType");
  const Json body = Json::parse(response.body, nullptr, /*allow_exceptions=*/false);
  if (body.is_object()) {
    for (const char* key : {"__type", "code"}) {
      if (error.code.empty() && body.contains(key) && body[key].is_string()) error.code = body[key];
    }
    for (const char* key : {"message", "Message"}) {
      if (error.message.empty() && body.contains(key) && body[key].is_string()) {
        error.message = body[key];
      }
    }
  } else {
    error.message = response.body.substr(0, 1024);
  }
  error.code = error.code.substr(0, error.code.find(':'));
  if (const auto hash = error.code.rfind('#'); hash != std::string::npos) {
    error.code.erase(0, hash + 1);
  }
  if (error.code.empty()) error.code = fmt::format("HTTP{}", response.status);
  return error;
}

JsonClient::JsonClient(ClientParts parts, RetryPolicy policy)
    : parts_(std::move(parts)), policy_(policy) {}

bool JsonClient::correct_skew(const AwsError& error, const HttpResponse& response) {
  if (!one_of(error.code, k_skew_codes)) return false;
  const auto server_s = http_date_s(response.header("Date"));
  if (!server_s) return false;
  const double skew_s = *server_s - parts_.clock.wall_time_s();
  // Services accept clocks that differ by up to five minutes, so less than four minutes is not the
  // reason. This check also prevents a second retry with the same correction.
  if (std::abs(skew_s - clock_skew_s_) < 240.0) return false;
  clock_skew_s_ = skew_s;
  return true;
}

AwsResult<Json> JsonClient::try_once(const JsonService& service, const std::string& operation,
                                     const std::string& body, bool refresh_credentials) {
  const auto credentials = parts_.credentials(refresh_credentials);
  if (!credentials) {
    AwsError error = client_error(operation, "NoCredentials", credentials.error().text());
    error.http_status = 400;
    return tl::unexpected(error);
  }
  HttpRequest request;
  request.scheme = service.scheme;
  request.host = service.host;
  request.headers = {{"Content-Type", service.content_type},
                     {"X-Amz-Target", service.target_prefix + "." + operation}};
  request.body = body;
  sign(request, *credentials,
       {service.region.empty() ? parts_.region : service.region, service.signing_name,
        parts_.clock.wall_time_s() + clock_skew_s_});
  const auto response = parts_.transport.send(request, HttpTimeouts{});
  if (!response) {
    return tl::unexpected(client_error(operation, "NoResponse", response.error().text()));
  }
  if (response->status / 100 != 2) {
    AwsError error = parse_error_response(*response, operation);
    if (correct_skew(error, *response)) error.code = "RequestTimeout";
    return tl::unexpected(error);
  }
  if (response->body.empty()) return Json::object();
  Json json = Json::parse(response->body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return tl::unexpected(
        client_error(operation, "NoResponse", "the response is not a complete JSON object"));
  }
  return json;
}

AwsResult<Json> JsonClient::call(const JsonService& service, const std::string& operation,
                                 const Json& input, int max_attempts) {
  if (max_attempts == 0) max_attempts = policy_.max_attempts;
  const std::string body = input.empty() ? "{}" : dump_json(input);
  const int interrupts_before = interrupts();
  bool refresh = false;
  for (int attempt = 1;; ++attempt) {
    parts_.wait_until(parts_.limiter.reserve_s(operation, parts_.clock.now_s()));
    auto result = try_once(service, operation, body, refresh);
    if (result) return result;
    AwsError& error = result.error();
    error.attempts = attempt;
    const bool expired = one_of(error.code, k_expired_codes) && !refresh;
    refresh = refresh || expired;
    const bool again = expired || is_throttling(error) || is_transient(error);
    if (!again || attempt >= max_attempts) return result;
    const double longest_s =
        std::min(policy_.cap_s, policy_.base_s * std::exp2(std::min(attempt - 1, 16)));
    const double again_s = parts_.clock.now_s() + longest_s * parts_.rng.uniform();
    // A created job costs money. So if a Create request may have succeeded, repeat it even if the
    // user wants the program to end. The answer then shows if the job exists.
    const bool may_be_made =
        operation.starts_with("Create") && (error.outcome_unknown() || error.http_status >= 500);
    if (may_be_made) {
      parts_.wait_until(again_s);
    } else if (!pause_until(again_s, interrupts_before)) {
      return result;
    }
  }
}

bool JsonClient::pause_until(double time_s, int interrupts_before) const {
  if (!parts_.interrupts) {
    parts_.wait_until(time_s);
    return true;
  }
  while (interrupts() == interrupts_before) {
    const double now_s = parts_.clock.now_s();
    if (now_s >= time_s) return true;
    parts_.wait_until(std::min(time_s, now_s + k_poll_s));
  }
  return false;
}

}  // namespace steptune::aws
