// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/aws/sigv4.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "common/sha256.hpp"
#include "common/text.hpp"
#include "trial_runner/sagemaker/aws/header_text.hpp"

namespace steptune::aws {
namespace {

constexpr const char* k_algorithm = "AWS4-HMAC-SHA256";

std::string hmac_sha256(std::string_view key, std::string_view data) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(data.data()), data.size(), digest.data(), &length);
  return {reinterpret_cast<const char*>(digest.data()), length};
}

/// Removes blanks at both ends, and replaces runs of blanks by one space.
std::string folded(std::string_view value) {
  std::string text;
  for (const char character : value) {
    const bool blank = character == ' ' || character == '\t' || character == '\n';
    if (!blank) {
      text += character;
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

std::map<std::string, std::string> canonical_headers(const HttpRequest& request) {
  std::map<std::string, std::string> canonical{{"host", request.host}};
  for (const auto& [name, value] : request.headers) {
    const std::string key = lower_case(name);
    if (key == "authorization" || key == "user-agent" || key == "expect") continue;
    const auto [entry, fresh] = canonical.emplace(key, folded(value));
    if (!fresh && key != "host") entry->second += "," + folded(value);
  }
  return canonical;
}

std::string signed_header_names(const HttpRequest& request) {
  std::string names;
  for (const auto& [name, value] : canonical_headers(request)) {
    names += (names.empty() ? "" : ";") + name;
  }
  return names;
}

/// Removes `.`, `..` and empty segments (RFC 3986 section 6.2.2.3).
std::string normalised_path(std::string_view path) {
  std::vector<std::string_view> segments;
  for (std::size_t at = 0; at < path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    const std::string_view segment = path.substr(at, end - at);
    at = end + 1;
    if (segment.empty() || segment == ".") continue;
    if (segment != "..") {
      segments.push_back(segment);
    } else if (!segments.empty()) {
      segments.pop_back();
    }
  }
  std::string normalised;
  for (const std::string_view segment : segments)
    normalised += "/" + std::string(segment);
  if (normalised.empty() || (path.ends_with('/') && path.size() > 1)) normalised += '/';
  return normalised;
}

std::string canonical_query(std::string_view query) {
  std::vector<std::string> pairs;
  for (std::size_t at = 0; at < query.size();) {
    const auto end = std::min(query.find('&', at), query.size());
    std::string pair(query.substr(at, end - at));
    at = end + 1;
    if (pair.empty()) continue;
    if (pair.find('=') == std::string::npos) pair += '=';
    pairs.push_back(std::move(pair));
  }
  const auto split = [](const std::string& pair) {
    const auto equals = pair.find('=');
    return std::pair(std::string_view(pair).substr(0, equals),
                     std::string_view(pair).substr(equals + 1));
  };
  std::sort(pairs.begin(), pairs.end(),
            [&](const std::string& a, const std::string& b) { return split(a) < split(b); });
  std::string canonical;
  for (const std::string& pair : pairs)
    canonical += (canonical.empty() ? "" : "&") + pair;
  return canonical;
}

void set_header(Headers& headers, const std::string& name, std::string value) {
  std::erase_if(headers,
                [&](const auto& header) { return lower_case(header.first) == lower_case(name); });
  headers.emplace_back(name, std::move(value));
}

std::string basic_time(double wall_time_s) {
  const auto seconds = static_cast<std::time_t>(wall_time_s);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace

std::string canonical_request(const HttpRequest& request, std::string_view service,
                              std::string_view payload_hash) {
  // For every service but S3, the signed path is encoded once more than the sent path.
  const std::string path =
      service == "s3" ? request.path : percent_encoded(normalised_path(request.path), true);
  std::string text = request.method + "\n" + path + "\n" + canonical_query(request.query) + "\n";
  for (const auto& [name, value] : canonical_headers(request))
    text += name + ":" + value + "\n";
  return text + "\n" + signed_header_names(request) + "\n" + std::string(payload_hash);
}

void sign(HttpRequest& request, const Credentials& credentials, const SigningScope& scope) {
  const std::string time = basic_time(scope.wall_time_s);
  const std::string payload_hash = sha256_hex(request.body);
  set_header(request.headers, "X-Amz-Date", time);
  if (!credentials.session_token.empty()) {
    set_header(request.headers, "X-Amz-Security-Token", credentials.session_token.reveal());
  }
  if (scope.service == "s3") set_header(request.headers, "X-Amz-Content-Sha256", payload_hash);

  const std::string date = time.substr(0, 8);
  const std::string scope_text =
      fmt::format("{}/{}/{}/aws4_request", date, scope.region, scope.service);
  const std::string to_sign =
      fmt::format("{}\n{}\n{}\n{}", k_algorithm, time, scope_text,
                  sha256_hex(canonical_request(request, scope.service, payload_hash)));
  std::string key = hmac_sha256("AWS4" + credentials.secret_access_key.reveal(), date);
  for (const std::string_view part :
       {std::string_view(scope.region), std::string_view(scope.service),
        std::string_view("aws4_request")}) {
    key = hmac_sha256(key, part);
  }
  set_header(request.headers, "Authorization",
             fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", k_algorithm,
                         credentials.access_key_id, scope_text, signed_header_names(request),
                         hex_digits(hmac_sha256(key, to_sign))));
}

}  // namespace steptune::aws
