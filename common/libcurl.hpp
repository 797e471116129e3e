// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include "common/error.hpp"

namespace steptune {

/// Functions of libcurl, loaded at run time. Linking it would load thirty more libraries in every
/// command, and few commands need them.
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

/// Loads and initialises libcurl at the first call; any thread may call it. Returns `unavailable`
/// if that fails.
[[nodiscard]] Result<const Libcurl*> libcurl();

}  // namespace steptune
