// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steptune {

// The functions below protect the served pages. Only clients that have the token and use an address
// of this machine get the pages.

/// Returns 128 random bits from the kernel, as hexadecimal digits.
[[nodiscard]] std::string random_token();

/// True for a text that can be a token in addresses, cookies and headers: 16 to 200 letters,
/// digits, `-` and `_`.
[[nodiscard]] bool is_token(std::string_view text);

/// Compares two texts. The time does not depend on which bytes differ, so that nobody can guess a
/// token byte by byte.
[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b);

/// True for `127.0.0.1` and `localhost`, with or without a port. A browser sends these if the user
/// opened an address of this machine, including a forwarded port. It sends another name if a
/// foreign host name resolves to this machine (DNS rebinding).
[[nodiscard]] bool is_local_host(std::string_view host);

/// Returns the value of a cookie in a `Cookie` header.
[[nodiscard]] std::optional<std::string> cookie_value(std::string_view header,
                                                      std::string_view name);

}  // namespace steptune
