// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include "common/error.hpp"

namespace steptune {

/// libcurl's functions. The library is not linked: it needs thirty others, which every command
/// would load and few use.
struct Libcurl {
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_easy_reset) easy_reset = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_perform) easy_perform = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
};

/// Opened and initialised at the first call, from any thread; `unavailable` where that is not
/// possible.
[[nodiscard]] Result<const Libcurl*> libcurl();

}  // namespace steptune
