// SPDX-License-Identifier: Apache-2.0
#include "common/libcurl.hpp"

#include <dlfcn.h>

namespace steptune {
namespace {

/// Name of the library with its binary interface version, stable since 2006.
constexpr const char* k_file = "libcurl.so.4";

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Result<Libcurl> opened() {
  const auto unavailable = [](const std::string& why) {
    return fail(ErrorKind::unavailable, "libcurl cannot be used: " + why, "",
                "install it (Debian: libcurl4)");
  };
  void* library = dlopen(k_file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return unavailable(reason != nullptr ? reason : k_file);
  }
  Libcurl curl;
  const bool complete = find(library, "curl_global_init", curl.global_init) &&
                        find(library, "curl_easy_init", curl.easy_init) &&
                        find(library, "curl_easy_cleanup", curl.easy_cleanup) &&
                        find(library, "curl_easy_reset", curl.easy_reset) &&
                        find(library, "curl_easy_setopt", curl.easy_setopt) &&
                        find(library, "curl_easy_perform", curl.easy_perform) &&
                        find(library, "curl_easy_getinfo", curl.easy_getinfo) &&
                        find(library, "curl_easy_strerror", curl.easy_strerror) &&
                        find(library, "curl_slist_append", curl.slist_append) &&
                        find(library, "curl_slist_free_all", curl.slist_free_all);
  if (!complete) return unavailable(std::string(k_file) + " lacks functions that are needed");
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return unavailable("it does not start");
  return curl;
}

}  // namespace

Result<const Libcurl*> libcurl() {
  static const Result<Libcurl> k_curl = opened();
  if (!k_curl) return tl::unexpected(k_curl.error());
  return &*k_curl;
}

}  // namespace steptune
