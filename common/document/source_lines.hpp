// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steptune::document {

/// Line numbers of the values in a JSON text, by JSON pointer. Computed in a second pass, and only
/// if the document has faults, so that reading a correct document stays fast.
class SourceLines {
 public:
  SourceLines() = default;
  /// Scans the text as far as it is valid JSON of at most 64 levels. Never fails.
  explicit SourceLines(std::string_view text);

  /// Returns the line (from 1) of the value, or of the nearest enclosing value in the text.
  [[nodiscard]] std::optional<int> line_of(std::string pointer) const;

  /// Returns pointers of keys that repeat an earlier key of the same object.
  [[nodiscard]] const std::vector<std::string>& repeated_keys() const { return repeated_; }

 private:
  std::map<std::string, int> lines_;
  std::vector<std::string> repeated_;
};

}  // namespace steptune::document
