// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// Bytes `begin` to `end` of a text give way to others.
struct TextEdit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text{};
};

/// `edits` in order, not overlapping.
[[nodiscard]] std::string edited_text(std::string_view text, const std::vector<TextEdit>& edits);

/// What the edits do to a file of that name, as `diff -u` shows it and `patch` applies it; empty
/// where there is none. `edits` as above.
[[nodiscard]] std::string unified_difference(std::string_view text,
                                             const std::vector<TextEdit>& edits,
                                             const std::string& name);

}  // namespace steptune
