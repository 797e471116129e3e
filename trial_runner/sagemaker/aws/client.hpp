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

/// A refusal by the service, or no answer at all.
struct AwsError {
  std::string code;     ///< `ValidationException`, `ThrottlingException`, ...; `NoResponse`
  std::string message;  ///< the service's own words
  int http_status = 0;  ///< 0 without a response
  std::string request_id;
  std::string operation;
  int attempts = 0;

  /// The request may have been carried out although no answer came.
  [[nodiscard]] bool outcome_unknown() const { return http_status == 0; }
  /// For people and for `Result`: never holds a secret.
  [[nodiscard]] Error to_error() const;
};

template <typename T>
using AwsResult = tl::expected<T, AwsError>;

/// A service that speaks the JSON protocol.
struct JsonService {
  std::string signing_name;   ///< `sagemaker`
  std::string target_prefix;  ///< `SageMaker`
  std::string content_type;   ///< `application/x-amz-json-1.1`
  std::string scheme;         ///< from `resolve_endpoint`
  std::string host;
  std::string region{};  ///< that requests are signed for; empty: the client's
};

struct RetryPolicy {
  int max_attempts = 12;
  double base_s = 1.0;  ///< first delay is uniform in [0, base_s], doubling
  double cap_s = 20.0;
};

/// Credentials on demand; called before every request, so that what expires is replaced in time.
/// `refresh` asks for new ones although the held ones have not expired (the service refused them).
using CredentialsSource = std::function<Result<Credentials>(bool refresh)>;
/// Waits until the clock reads `time_s`; returns early, false, if the work is to be given up.
using WaitUntil = std::function<bool(double time_s)>;

struct ClientParts {
  HttpTransport& transport;
  const Clock& clock;
  RateLimiter& limiter;
  Rng& rng;
  CredentialsSource credentials;
  WaitUntil wait_until;
  std::string region;
  /// How often the user has asked the program to end: a request that has failed is not sent again
  /// where that happens meanwhile. Empty: nobody can.
  std::function<int()> interrupts{};
};

/// Calls JSON services: paces each operation, signs each attempt anew, retries what may pass
/// (throttling, 5xx, no response, expired credentials once, a clock that disagrees with the
/// server's) with full jitter. Source of the retry rules: AWS SDK "standard" mode, with more
/// attempts because the account's limits are a few requests a second. Not thread safe.
class JsonClient {
 public:
  explicit JsonClient(ClientParts parts, RetryPolicy policy = {});

  /// One operation. The response body is an object (empty for an empty body). `max_attempts`: 0 for
  /// those of the policy.
  [[nodiscard]] AwsResult<Json> call(const JsonService& service, const std::string& operation,
                                     const Json& input, int max_attempts = 0);

 private:
  struct Attempt;
  [[nodiscard]] AwsResult<Json> try_once(const JsonService& service, const std::string& operation,
                                         const std::string& body, bool refresh_credentials);
  /// False: somebody has asked to end since the count was `interrupts_before`, or does.
  [[nodiscard]] bool pause_until(double time_s, int interrupts_before) const;
  [[nodiscard]] int interrupts() const { return parts_.interrupts ? parts_.interrupts() : 0; }
  /// True if the error is a disagreement of clocks that has now been corrected for.
  bool correct_skew(const AwsError& error, const HttpResponse& response);

  ClientParts parts_;
  RetryPolicy policy_;
  double clock_skew_s_ = 0.0;  ///< server's clock less ours
};

/// True for errors that the same request may survive a moment later.
[[nodiscard]] bool is_throttling(const AwsError& error);
[[nodiscard]] bool is_transient(const AwsError& error);

/// The error of a JSON-protocol response, by botocore's rules: code from `__type` (cut at ':' and
/// after '#') or the header, message from `message` or `Message`, any other body as it is.
[[nodiscard]] AwsError parse_error_response(const HttpResponse& response,
                                            const std::string& operation);

}  // namespace steptune::aws
