// SPDX-License-Identifier: Apache-2.0
#include "common/sha256.hpp"

#include <array>
#include <stdexcept>

#include <fmt/format.h>
#include <openssl/evp.h>

namespace steptune {

std::string hex_digits(std::string_view bytes) {
  std::string digits;
  for (const char byte : bytes)
    digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

std::string sha256_hex(std::string_view data) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  // EVP_Digest fails only if OpenSSL is broken. Throw, because a wrong hash would give wrong names
  // and signatures.
  if (EVP_Digest(data.data(), data.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL has no SHA-256");
  }
  return hex_digits({reinterpret_cast<const char*>(digest.data()), size});
}

}  // namespace steptune
