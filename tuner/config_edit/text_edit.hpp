// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// Replaces the bytes of a text from `begin` up to, but not including, `end` by `text`.
struct TextEdit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text{};
};

/// Applies `edits`, which must be in order and not overlap.
[[nodiscard]] std::string edited_text(std::string_view text, const std::vector<TextEdit>& edits);

/// Returns the edits of a file of that name as a unified diff, which `patch` can apply. Empty if
/// the text does not change.
[[nodiscard]] std::string unified_difference(std::string_view text,
                                             const std::vector<TextEdit>& edits,
                                             const std::string& name);

}  // namespace steptune
