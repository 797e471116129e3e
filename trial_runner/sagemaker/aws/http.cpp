// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/aws/http.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

#include <fmt/format.h>

#include "common/certificates.hpp"
#include "common/environment.hpp"
#include "common/json.hpp"
#include "common/libcurl.hpp"
#include "common/text.hpp"
#include "trial_runner/sagemaker/aws/header_text.hpp"

namespace steptune::aws {
namespace {

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return lower_case(a) == lower_case(b);
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* response) {
  auto& body = static_cast<HttpResponse*>(response)->body;
  if (body.size() + size * count > k_max_document_bytes) return 0;
  body.append(data, size * count);
  return size * count;
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* response) {
  const std::string_view line(data, size * count);
  auto& headers = static_cast<HttpResponse*>(response)->headers;
  // A status line begins a new response, for example after 100 Continue.
  if (line.starts_with("HTTP/")) headers.clear();
  const auto colon = line.find(':');
  if (colon != std::string_view::npos) {
    headers.emplace_back(line.substr(0, colon), trimmed(line.substr(colon + 1)));
  }
  return size * count;
}

using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

HeaderList header_list(const Libcurl& curl, const Headers& headers) {
  HeaderList list(nullptr, curl.slist_free_all);
  const auto append = [&](const std::string& line) {
    curl_slist* longer = curl.slist_append(list.get(), line.c_str());
    if (longer == nullptr) return;
    (void)list.release();
    list.reset(longer);
  };
  for (const auto& [name, value] : headers) {
    // libcurl sends a header without a value only if its name ends with `;`.
    append(value.empty() ? name + ";" : name + ": " + value);
  }
  append("Expect:");
  return list;
}

}  // namespace

std::string HttpRequest::url() const {
  return scheme + "://" + host + path + (query.empty() ? "" : "?" + query);
}

std::string_view HttpResponse::header(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const auto& header) {
    return equal_ignoring_case(header.first, name);
  });
  return found == headers.end() ? std::string_view{} : std::string_view(found->second);
}

std::string percent_encoded(std::string_view text, bool keep_slash) {
  std::string encoded;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    const bool unreserved = (std::isalnum(byte) != 0 && byte < 0x80) || character == '-' ||
                            character == '.' || character == '_' || character == '~';
    if (unreserved || (keep_slash && character == '/')) {
      encoded += character;
    } else {
      encoded += fmt::format("%{:02X}", byte);
    }
  }
  return encoded;
}

CurlTransport::CurlTransport(std::string ca_bundle)
    : ca_bundle_(ca_bundle.empty() ? trusted_certificates(process_environment())
                                   : std::move(ca_bundle)) {}

CurlTransport::~CurlTransport() {
  if (handle_ != nullptr) (*libcurl())->easy_cleanup(handle_);
}

Result<HttpResponse> CurlTransport::send(const HttpRequest& request, const HttpTimeouts& timeouts) {
  const auto library = libcurl();
  if (!library) return tl::unexpected(library.error());
  const Libcurl& lib = **library;
  if (handle_ == nullptr) handle_ = lib.easy_init();
  if (handle_ == nullptr) return fail(ErrorKind::internal, "libcurl could not be initialised");
  CURL* curl = handle_;
  lib.easy_reset(curl);  // open connections stay open
  HttpResponse response;
  std::array<char, CURL_ERROR_SIZE> reason{};
  const HeaderList headers = header_list(lib, request.headers);
  const std::string url = request.url();
  const auto milliseconds = [](double seconds) { return static_cast<long>(seconds * 1e3); };
  lib.easy_setopt(curl, CURLOPT_URL, url.c_str());
  lib.easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  lib.easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  lib.easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT") {
    lib.easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data());
    lib.easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                    static_cast<curl_off_t>(request.body.size()));
  }
  lib.easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  lib.easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  lib.easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(timeouts.connect_s));
  lib.easy_setopt(curl, CURLOPT_TIMEOUT_MS, milliseconds(timeouts.total_s));
  lib.easy_setopt(curl, CURLOPT_WRITEFUNCTION, &on_body);
  lib.easy_setopt(curl, CURLOPT_WRITEDATA, &response);
  lib.easy_setopt(curl, CURLOPT_HEADERFUNCTION, &on_header);
  lib.easy_setopt(curl, CURLOPT_HEADERDATA, &response);
  lib.easy_setopt(curl, CURLOPT_ERRORBUFFER, reason.data());
  if (!ca_bundle_.empty()) lib.easy_setopt(curl, CURLOPT_CAINFO, ca_bundle_.c_str());
  const CURLcode code = lib.easy_perform(curl);
  if (code != CURLE_OK) {
    const std::string why = reason[0] != '\0' ? reason.data() : lib.easy_strerror(code);
    return fail(ErrorKind::unavailable, "no complete response: " + why,
                request.method + " " + request.scheme + "://" + request.host);
  }
  long status = 0;
  lib.easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  return response;
}

}  // namespace steptune::aws
