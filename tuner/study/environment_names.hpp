// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace steptune::study {

/// Returns why a study may not set this environment variable and what to do instead; nullopt if it
/// may. Refuses variables that decide which program or code really runs, and variables that the
/// tuner itself sets. Also refuses names that look like secrets, because the history stores the
/// study.
[[nodiscard]] std::optional<std::string> denied_variable(std::string_view name);

}  // namespace steptune::study
