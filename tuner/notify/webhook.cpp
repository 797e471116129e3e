// SPDX-License-Identifier: Apache-2.0
#include "tuner/notify/webhook.hpp"

#include <memory>

#include <curl/curl.h>
#include <fmt/format.h>

namespace steptune {
namespace {

constexpr long k_connect_s = 5;
constexpr long k_total_s = 15;

std::size_t drop_answer(char* /*data*/, std::size_t size, std::size_t count, void* /*context*/) {
  return size * count;
}

}  // namespace

Result<void> post_json(const std::string& address, const std::string& document) {
  static const bool k_begun = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
      k_begun ? curl_easy_init() : nullptr, &curl_easy_cleanup);
  if (!curl) return fail(ErrorKind::unavailable, "libcurl cannot be used");
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(
      curl_slist_append(nullptr, "Content-Type: application/json"), &curl_slist_free_all);
  curl_easy_setopt(curl.get(), CURLOPT_URL, address.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, document.data());
  curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE_LARGE,
                   static_cast<curl_off_t>(document.size()));
  curl_easy_setopt(curl.get(), CURLOPT_USERAGENT, "steptune");
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, k_connect_s);
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, k_total_s);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &drop_answer);
  const CURLcode code = curl_easy_perform(curl.get());
  if (code != CURLE_OK) return fail(ErrorKind::unavailable, curl_easy_strerror(code));
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status >= 200 && status < 300) return {};
  return fail(ErrorKind::unavailable, fmt::format("the answer was HTTP status {}", status));
}

}  // namespace steptune
