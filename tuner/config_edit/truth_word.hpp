// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptune {

/// True for a word that means true or false: `True`, `no`, `ON`, `1`.
[[nodiscard]] bool is_truth_word(std::string_view text);

/// Returns `value` in the style of `present`: `False` for `True`, `off` for `on`; `true` or `false`
/// if `present` is no such word.
[[nodiscard]] std::string truth_word_like(std::string_view present, bool value);

}  // namespace steptune
