// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"

namespace steptune::document {

struct KeyTraits;

/// One key's row in a table of the reference (docs/study-file.md), in Markdown.
struct KeyRow {
  std::string key;
  std::string default_value;
  std::string meaning;
};

/// Table of the reference with the keys of one object.
struct KeyTable {
  std::string name;
  std::vector<KeyRow> rows;

  /// Returns a Markdown table.
  [[nodiscard]] std::string markdown() const;
};

/// Returns the row of a key. `show` formats the default value, if there is one, as Markdown.
[[nodiscard]] KeyRow key_row(const KeyTraits& traits, const std::optional<Json>& default_value,
                             const std::function<std::string(const Json&)>& show);

/// Returns `schema` with the key's default and description added.
[[nodiscard]] Json key_schema(const KeyTraits& traits, Json schema,
                              const std::optional<Json>& default_value);

/// Removes Markdown marks: keeps the text of each link and the content of each code span.
[[nodiscard]] std::string plain_text(const std::string& markdown);

}  // namespace steptune::document
