// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptune {

/// SHA-256 in 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view data);

/// Bytes as lower-case hexadecimal digits.
[[nodiscard]] std::string hex_digits(std::string_view bytes);

}  // namespace steptune
