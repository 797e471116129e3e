// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "common/environment.hpp"

namespace steptune {

/// Returns the path of the file with the certificate authorities that this system trusts. Returns
/// the variable SSL_CERT_FILE unchecked if it is set. Otherwise searches the usual paths of Linux
/// distributions below `root`. Returns an empty text if no file is found. The Python wheel contains
/// Debian's libcurl, which on its own searches only Debian's path.
[[nodiscard]] std::string trusted_certificates(const Environment& environment,
                                               const std::filesystem::path& root = "/");

}  // namespace steptune
