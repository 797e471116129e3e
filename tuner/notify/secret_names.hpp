// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// True for variables that programs which nobody watches are not given: names of credentials
/// (`AWS_*`, `*TOKEN*`, `*SECRET*`, `*PASSWORD*`, `*_KEY`, ...), and values that are addresses with
/// a user's password in them.
[[nodiscard]] bool is_secret_variable(std::string_view name, std::string_view value);

/// This program's environment, `NAME=value` each, without what is secret.
[[nodiscard]] std::vector<std::string> environment_without_secrets();

}  // namespace steptune
