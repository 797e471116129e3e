// SPDX-License-Identifier: Apache-2.0
#include "common/certificates.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

/// Paths that Go's crypto/x509 searches, in the same order, without the path of OpenELEC.
constexpr const char* k_places[] = {
    "etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch, Gentoo
    "etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, Amazon Linux, RHEL 6
    "etc/ssl/ca-bundle.pem",                             // openSUSE
    "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL 7 and later
    "etc/ssl/cert.pem",                                  // Alpine
};

}  // namespace

std::string trusted_certificates(const Environment& environment, const fs::path& root) {
  if (auto file = environment("SSL_CERT_FILE")) return *file;
  for (const char* place : k_places) {
    std::error_code error;
    if (fs::is_regular_file(root / place, error)) return (root / place).string();
  }
  return "";
}

}  // namespace steptune
