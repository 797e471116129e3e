// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptune {

/// Returns the SHA-256 hash as 64 lower-case hexadecimal digits. Throws if OpenSSL is broken.
[[nodiscard]] std::string sha256_hex(std::string_view data);

/// Returns the bytes as lower-case hexadecimal digits.
[[nodiscard]] std::string hex_digits(std::string_view bytes);

}  // namespace steptune
