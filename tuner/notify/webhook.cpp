// SPDX-License-Identifier: Apache-2.0
#include "tuner/notify/webhook.hpp"

#include <memory>

#include <fmt/format.h>

#include "common/certificates.hpp"
#include "common/environment.hpp"
#include "common/libcurl.hpp"

namespace steptune {
namespace {

std::size_t drop_answer(char* /*data*/, std::size_t size, std::size_t count, void* /*context*/) {
  return size * count;
}

}  // namespace

Result<void> post_json(const std::string& address, const std::string& document) {
  const auto library = libcurl();
  if (!library) return tl::unexpected(library.error());
  const Libcurl& lib = **library;
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(lib.easy_init(), lib.easy_cleanup);
  if (!curl) return fail(ErrorKind::unavailable, "libcurl could not be initialised");
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(
      lib.slist_append(nullptr, "Content-Type: application/json"), lib.slist_free_all);
  lib.easy_setopt(curl.get(), CURLOPT_URL, address.c_str());
  lib.easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  lib.easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
  lib.easy_setopt(curl.get(), CURLOPT_POSTFIELDS, document.data());
  lib.easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE_LARGE,
                  static_cast<curl_off_t>(document.size()));
  lib.easy_setopt(curl.get(), CURLOPT_USERAGENT, "steptune");
  lib.easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  lib.easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, 5L);  // seconds
  lib.easy_setopt(curl.get(), CURLOPT_TIMEOUT, 15L);
  if (const auto certificates = trusted_certificates(process_environment()); !certificates.empty())
    lib.easy_setopt(curl.get(), CURLOPT_CAINFO, certificates.c_str());
  lib.easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &drop_answer);
  const CURLcode code = lib.easy_perform(curl.get());
  if (code != CURLE_OK) return fail(ErrorKind::unavailable, lib.easy_strerror(code));
  long status = 0;
  lib.easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status >= 200 && status < 300) return {};
  return fail(ErrorKind::unavailable, fmt::format("the answer was HTTP status {}", status));
}

}  // namespace steptune
