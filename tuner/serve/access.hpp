// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steptune {

// Who may read the served pages: whoever has the token, from an address of this machine alone.

/// 128 random bits from the kernel, as hexadecimal digits.
[[nodiscard]] std::string random_token();

/// True for a text that can be a token in addresses, cookies and headers: 16 to 200 letters,
/// digits, `-` and `_`.
[[nodiscard]] bool is_token(std::string_view text);

/// Takes as long whichever bytes differ.
[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b);

/// True for `127.0.0.1` and `localhost` with any port or none: what a browser sends that was led
/// here by an address of this machine, a forwarded port included, and not by the name of another
/// host that resolves to it (DNS rebinding).
[[nodiscard]] bool is_local_host(std::string_view host);

/// The value of a cookie in a `Cookie` header.
[[nodiscard]] std::optional<std::string> cookie_value(std::string_view header,
                                                      std::string_view name);

}  // namespace steptune
