// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steptune::document {

/// Where the values of a JSON text stand: JSON pointer -> line. Only wanted once something is
/// wrong, hence a second pass over the text instead of a burden on every reading.
class SourceLines {
 public:
  SourceLines() = default;
  /// Scans as far as the text is JSON of at most 64 levels; never fails.
  explicit SourceLines(std::string_view text);

  /// Counted from 1; of the nearest enclosing value if `pointer` itself is not in the text.
  [[nodiscard]] std::optional<int> line_of(std::string pointer) const;

  /// Pointers of keys that repeat an earlier key of the same object.
  [[nodiscard]] const std::vector<std::string>& repeated_keys() const { return repeated_; }

 private:
  std::map<std::string, int> lines_;
  std::vector<std::string> repeated_;
};

}  // namespace steptune::document
