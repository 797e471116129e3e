// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "common/environment.hpp"

namespace steptune {

/// Returns the path of the file with the certificate authorities that this system trusts. If
/// SSL_CERT_FILE is set, returns its value without a check. Otherwise searches the usual paths of
/// Linux distributions below `root`. Returns an empty text if no file is found. The search is
/// needed because the Python wheel contains Debian's libcurl, which searches only Debian's path.
[[nodiscard]] std::string trusted_certificates(const Environment& environment,
                                               const std::filesystem::path& root = "/");

}  // namespace steptune
