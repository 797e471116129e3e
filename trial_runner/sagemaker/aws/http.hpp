// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.hpp"

namespace steptune::aws {

/// Names and values, in order. Names are case-insensitive.
using Headers = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = "POST";
  std::string scheme = "https";
  std::string host;        ///< with `:port` unless it is the scheme's default
  std::string path = "/";  ///< percent-encoded, as sent
  std::string query;       ///< percent-encoded, as sent; without `?`
  Headers headers;         ///< without Host; the transport sends `host`
  std::string body;

  [[nodiscard]] std::string url() const;
};

struct HttpResponse {
  int status = 0;
  Headers headers;
  std::string body;

  /// Returns the header's value; empty if it is absent.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

struct HttpTimeouts {
  double connect_s = 10.0;
  double total_s = 60.0;
};

/// Sends requests. An `unavailable` error means that no complete response came; the server may
/// still have acted on the request.
class HttpTransport {
 public:
  virtual ~HttpTransport() = default;
  [[nodiscard]] virtual Result<HttpResponse> send(const HttpRequest& request,
                                                  const HttpTimeouts& timeouts) = 0;
};

/// Sends requests with libcurl, which the first request loads. Each object has its own connection
/// pool. Not thread safe. Verifies TLS certificates against `ca_bundle` (empty: the system's).
/// Follows no redirects and refuses bodies over 64 MiB, because AWS APIs send neither.
class CurlTransport final : public HttpTransport {
 public:
  explicit CurlTransport(std::string ca_bundle = {});
  ~CurlTransport() override;
  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;

  [[nodiscard]] Result<HttpResponse> send(const HttpRequest& request,
                                          const HttpTimeouts& timeouts) override;

 private:
  void* handle_ = nullptr;  // CURL*, kept out of the header
  std::string ca_bundle_;
};

/// Percent-encodes all but unreserved characters (RFC 3986). Keeps `/` if `keep_slash`.
[[nodiscard]] std::string percent_encoded(std::string_view text, bool keep_slash = false);

}  // namespace steptune::aws
