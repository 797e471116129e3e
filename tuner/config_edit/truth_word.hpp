// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace steptune {

/// Returns true for `true`, `True`, `yes`, `on`, `1`, false for their opposites, otherwise nullopt.
[[nodiscard]] std::optional<bool> truth_of(std::string_view text);

/// Returns `value` in the style of `present`: `False` for `True`, `off` for `on`. If `present` is
/// no such word, returns `true` or `false`.
[[nodiscard]] std::string truth_word_like(std::string_view present, bool value);

}  // namespace steptune
