// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/signature_check.hpp"

#include <cmath>
#include <ctime>
#include <regex>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/sagemaker/aws/sigv4.hpp"

namespace steptune::simulated {
namespace {

constexpr double k_largest_skew_s = 300.0;
constexpr int k_forbidden = 403;

std::optional<double> basic_time_s(const std::string& text) {
  std::tm utc{};
  const char* end = strptime(text.c_str(), "%Y%m%dT%H%M%SZ", &utc);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return static_cast<double>(timegm(&utc));
}

ServiceError forbidden(const char* code, std::string message) {
  return {code, std::move(message), k_forbidden};
}

}  // namespace

std::string_view header_of(const aws::HttpRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.headers) {
    if (lower_case(key) == lower_case(name)) return value;
  }
  return {};
}

std::optional<ServiceError> signature_fault(const aws::HttpRequest& request,
                                            const std::map<std::string, SigningKey>& keys,
                                            double wall_time_s) {
  static const std::regex form(
      "AWS4-HMAC-SHA256 Credential=([^/]+)/[0-9]{8}/([^/]+)/([^/]+)/aws4_request, "
      "SignedHeaders=[^,]+, Signature=[0-9a-f]{64}");
  const std::string authorization(header_of(request, "Authorization"));
  std::smatch match;
  if (!std::regex_match(authorization, match, form)) {
    return forbidden("MissingAuthenticationTokenException", "Missing Authentication Token");
  }
  const auto key = keys.find(match[1].str());
  if (key == keys.end() ||
      header_of(request, "X-Amz-Security-Token") != key->second.session_token.reveal()) {
    return forbidden("UnrecognizedClientException",
                     "The security token included in the request is invalid.");
  }
  if (key->second.expiration_wall_s && wall_time_s > *key->second.expiration_wall_s) {
    return forbidden("ExpiredTokenException",
                     "The security token included in the request is expired");
  }
  const std::string date(header_of(request, "X-Amz-Date"));
  const auto signed_at_s = basic_time_s(date);
  if (!signed_at_s) {
    return forbidden("IncompleteSignature", "Date must be in ISO-8601 'basic format'.");
  }
  if (std::abs(*signed_at_s - wall_time_s) > k_largest_skew_s) {
    return forbidden("InvalidSignatureException",
                     fmt::format("Signature not yet current or expired: {}", date));
  }
  aws::HttpRequest again = request;
  aws::sign(again, {key->first, key->second.secret, key->second.session_token, {}, {}},
            {match[2].str(), match[3].str(), *signed_at_s});
  if (header_of(again, "Authorization") != authorization) {
    return forbidden(
        "InvalidSignatureException",
        "The request signature we calculated does not match the signature you provided.");
  }
  return std::nullopt;
}

}  // namespace steptune::simulated
