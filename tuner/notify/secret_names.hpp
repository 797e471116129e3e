// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// True for a variable that unattended programs must not get. Its name is that of a credential
/// (`AWS_*`, `*TOKEN*`, `*SECRET*`, `*PASSWORD*`, `*_KEY`, ...), or its value has an address with a
/// user's password.
[[nodiscard]] bool is_secret_variable(std::string_view name, std::string_view value);

/// Returns this program's environment as `NAME=value`, without secrets.
[[nodiscard]] std::vector<std::string> environment_without_secrets();

}  // namespace steptune
