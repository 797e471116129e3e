// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.hpp"

namespace steptune::aws {

/// Name and value, in order; names compare without regard to case.
using Headers = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = "POST";
  std::string scheme = "https";
  std::string host;        ///< with `:port` where it is not the scheme's own
  std::string path = "/";  ///< as it goes over the wire: percent-encoded
  std::string query;       ///< likewise, without `?`
  Headers headers;         ///< without Host, which the transport sends from `host`
  std::string body;

  [[nodiscard]] std::string url() const;
};

struct HttpResponse {
  int status = 0;
  Headers headers;
  std::string body;

  /// The header's value, or an empty text.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

struct HttpTimeouts {
  double connect_s = 10.0;
  double total_s = 60.0;
};

/// Carries requests. An error (`unavailable`) means that no complete response came; whether the
/// server acted on the request is then unknown.
class HttpTransport {
 public:
  virtual ~HttpTransport() = default;
  [[nodiscard]] virtual Result<HttpResponse> send(const HttpRequest& request,
                                                  const HttpTimeouts& timeouts) = 0;
};

/// libcurl, opened by the first request; one connection pool per object; not thread safe. TLS
/// certificates are verified against `ca_bundle`, or the system's where it is empty. No redirects
/// are followed and bodies over 64 MiB are refused: no AWS API sends either.
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

/// Percent-encodes all but unreserved characters (RFC 3986); `/` too unless `keep_slash`.
[[nodiscard]] std::string percent_encoded(std::string_view text, bool keep_slash = false);

}  // namespace steptune::aws
