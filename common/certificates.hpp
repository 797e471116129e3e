// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "common/environment.hpp"

namespace steptune {

/// Returns the file of certificates that this system trusts: SSL_CERT_FILE, otherwise the first
/// existing file at the places where distributions keep it, below `root`. Returns an empty text if
/// there is none. The wheel's libcurl comes from Debian and knows only Debian's place.
[[nodiscard]] std::string trusted_certificates(const Environment& environment,
                                               const std::filesystem::path& root = "/");

}  // namespace steptune
