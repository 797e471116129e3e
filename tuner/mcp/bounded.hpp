// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "common/json.hpp"

namespace steptune::mcp {

/// Most bytes of an answer's JSON text, so that answers do not fill an agent's context.
inline constexpr std::size_t k_longest_answer = 2000;
/// Most items of a list or an object in an answer. `bounded` keeps the first ones.
inline constexpr std::size_t k_most_items = 40;

/// Cuts texts, lists and objects until the JSON text has at most `most_bytes`. A text that was cut
/// ends with `...`. If cutting is not enough, returns only a `problem`.
[[nodiscard]] Json bounded(const Json& json, std::size_t most_bytes);

}  // namespace steptune::mcp
