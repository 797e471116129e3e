// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptune {

/// A text may be a word for true or false: `True`, `no`, `ON`, `1`.
[[nodiscard]] bool is_truth_word(std::string_view text);

/// `value` as it is written where `present` stands now: `False` for `True`, `off` for `on`; `true`
/// or `false` where `present` is no such word.
[[nodiscard]] std::string truth_word_like(std::string_view present, bool value);

}  // namespace steptune
