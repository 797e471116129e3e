// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/clock.hpp"
#include "common/json.hpp"
#include "common/rng.hpp"
#include "trial_runner/sagemaker/aws/http.hpp"
#include "trial_runner/sagemaker/aws/rate_limiter.hpp"
#include "trial_runner/sagemaker/aws/sigv4.hpp"

namespace steptune::aws {

/// A refusal by the service, a missing answer, or a request that was not sent.
struct AwsError {
  /// The service's code, such as `ValidationException`. `NoResponse` without an answer;
  /// `NoCredentials` if the request was not sent.
  std::string code;
  std::string message;  ///< the service's message
  int http_status = 0;  ///< 0 without a response; 400 for `NoCredentials`
  std::string request_id;
  std::string operation;
  int attempts = 0;

  /// True if no complete answer came; the service may still have carried out the request.
  [[nodiscard]] bool outcome_unknown() const { return http_status == 0; }
  /// Formats the error for people and for `Result`. Contains no secret.
  [[nodiscard]] Error to_error() const;
};

template <typename T>
using AwsResult = tl::expected<T, AwsError>;

/// An AWS service with the JSON protocol.
struct JsonService {
  std::string signing_name;   ///< `sagemaker`
  std::string target_prefix;  ///< `SageMaker`
  std::string content_type;   ///< `application/x-amz-json-1.1`
  std::string scheme;         ///< from `resolve_endpoint`
  std::string host;
  std::string region{};  ///< region to sign requests for; empty: the client's region
};

struct RetryPolicy {
  int max_attempts = 12;
  /// Upper bound of the first delay, in seconds. Each delay is random between 0 and its bound,
  /// which doubles with each retry.
  double base_s = 1.0;
  double cap_s = 20.0;
};

/// Function that returns credentials. The client calls it before every request, so that expiring
/// credentials are replaced in time. If `refresh` is true, it gets new credentials even if the
/// current ones have not expired, because the service has refused them.
using CredentialsSource = std::function<Result<Credentials>(bool refresh)>;
/// Function that waits until the clock reads `time_s`.
using WaitUntil = std::function<void(double time_s)>;

struct ClientParts {
  HttpTransport& transport;
  const Clock& clock;
  RateLimiter& limiter;
  Rng& rng;
  CredentialsSource credentials;
  WaitUntil wait_until;
  std::string region;
  /// Returns the number of times that the user has asked the program to end. If this number rises
  /// during a failing request, the client does not repeat the request. Exception: it repeats a
  /// Create request that may have succeeded. If the function is empty, the user cannot ask.
  std::function<int()> interrupts{};
};

/// Calls JSON services. Paces each operation and signs each attempt. Retries transient failures
/// after random delays: throttling, 5xx, no response, expired credentials (once), and a clock that
/// differs from the server's. Follows the AWS SDKs' retry rules for the "standard" mode. Makes more
/// attempts, because accounts are limited to a few requests a second. Not thread safe.
class JsonClient {
 public:
  explicit JsonClient(ClientParts parts, RetryPolicy policy = {});

  /// Calls one operation. Returns a JSON object, which is empty for an empty body. If
  /// `max_attempts` is 0, the retry policy's number applies.
  [[nodiscard]] AwsResult<Json> call(const JsonService& service, const std::string& operation,
                                     const Json& input, int max_attempts = 0);

 private:
  [[nodiscard]] AwsResult<Json> try_once(const JsonService& service, const std::string& operation,
                                         const std::string& body, bool refresh_credentials);
  /// Waits until `time_s`. Returns false, perhaps earlier, if the number of `interrupts` is no
  /// longer `interrupts_before`.
  [[nodiscard]] bool pause_until(double time_s, int interrupts_before) const;
  [[nodiscard]] int interrupts() const { return parts_.interrupts ? parts_.interrupts() : 0; }
  /// Corrects `clock_skew_s_` if different clocks caused the error. Returns true if it did so.
  bool correct_skew(const AwsError& error, const HttpResponse& response);

  ClientParts parts_;
  RetryPolicy policy_;
  double clock_skew_s_ = 0.0;  ///< server's clock minus ours
};

/// True if the same request may succeed a moment later. `is_throttling`: requests come too fast.
/// `is_transient`: the service or the network failed.
[[nodiscard]] bool is_throttling(const AwsError& error);
[[nodiscard]] bool is_transient(const AwsError& error);

/// Reads an error response. Its code is the header x-amzn-ErrorType, otherwise `__type` or `code`.
/// Removes the code's prefix up to '#', and its text from ':' on. Its message is `message` or
/// `Message`. If the body is no JSON object, the message is its first 1024 bytes.
[[nodiscard]] AwsError parse_error_response(const HttpResponse& response,
                                            const std::string& operation);

}  // namespace steptune::aws
