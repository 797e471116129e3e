// SPDX-License-Identifier: Apache-2.0
#include "common/certificates.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace steptune {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> nothing_set(const std::string& /*name*/) {
  return std::nullopt;
}

TEST(Certificates, UsesTheFirstFileThatExists) {
  const fs::path root = fs::path(::testing::TempDir()) / "certificates";
  fs::remove_all(root);
  fs::create_directories(root / "etc/ssl/certs/ca-certificates.crt");
  fs::create_directories(root / "etc/pki/tls/certs");
  EXPECT_EQ(trusted_certificates(nothing_set, root), "") << "a folder is no file";
  const fs::path fedora = root / "etc/pki/tls/certs/ca-bundle.crt";
  const fs::path alpine = root / "etc/ssl/cert.pem";
  std::ofstream{alpine} << "PEM";
  EXPECT_EQ(trusted_certificates(nothing_set, root), alpine);
  std::ofstream{fedora} << "PEM";
  EXPECT_EQ(trusted_certificates(nothing_set, root), fedora);
  fs::remove_all(root);
}

TEST(Certificates, TheUsersFileComesFirst) {
  const Environment environment = [](const std::string& name) {
    return name == "SSL_CERT_FILE" ? std::optional<std::string>("/mine.pem") : std::nullopt;
  };
  EXPECT_EQ(trusted_certificates(environment), "/mine.pem");
}

}  // namespace
}  // namespace steptune
