// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"

namespace steptune::document {

struct KeyTraits;

/// A key as the reference shows it; Markdown.
struct KeyRow {
  std::string key;
  std::string default_value;
  std::string meaning;
};

/// The keys of one object.
struct KeyTable {
  std::string name;
  std::vector<KeyRow> rows;

  /// As a Markdown table.
  [[nodiscard]] std::string markdown() const;
};

/// The row of a key whose default is `default_value`, if it has one; `show` turns it into Markdown.
[[nodiscard]] KeyRow key_row(const KeyTraits& traits, const std::optional<Json>& default_value,
                             const std::function<std::string(const Json&)>& show);

/// `schema` with the default and the description of the key.
[[nodiscard]] Json key_schema(const KeyTraits& traits, Json schema,
                              const std::optional<Json>& default_value);

/// Markdown as plain text: links become their text, code its content.
[[nodiscard]] std::string plain_text(const std::string& markdown);

}  // namespace steptune::document
