// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace steptune::study {

/// Returns why a study may not set this environment variable and what to do instead; nullopt if it
/// may. Refuses variables that decide which program or code really runs, variables that the tuner
/// itself sets, and names that look like secrets, because a study is stored with its history.
[[nodiscard]] std::optional<std::string> denied_variable(std::string_view name);

}  // namespace steptune::study
