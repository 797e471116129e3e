// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace steptune::study {

/// Why a study may not set this environment variable and what to do instead; nothing if it may.
/// Refused are variables that decide which program or code runs behind the command's back, those
/// that the tuner sets itself, and those that look like secrets: a study is stored with its
/// history.
[[nodiscard]] std::optional<std::string> denied_variable(std::string_view name);

}  // namespace steptune::study
