// SPDX-License-Identifier: Apache-2.0
#include "common/document/key_table.hpp"

#include <regex>
#include <utility>

#include <fmt/format.h>

#include "common/document/section.hpp"

namespace steptune::document {
namespace {

/// True if the default is a scalar or empty, so that a table can show it in full.
bool is_plain(const std::optional<Json>& value) {
  return value && (value->is_primitive() || value->empty());
}

}  // namespace

std::string KeyTable::markdown() const {
  std::string text = "| key | default | meaning |\n|---|---|---|\n";
  for (const KeyRow& row : rows)
    text += fmt::format("| {} | {} | {} |\n", row.key, row.default_value, row.meaning);
  return text;
}

KeyRow key_row(const KeyTraits& traits, const std::optional<Json>& default_value,
               const std::function<std::string(const Json&)>& show) {
  KeyRow row;
  row.key = fmt::format("`{}`", traits.name);
  if (!traits.anchor.empty()) row.key = fmt::format("[{}](#{})", row.key, traits.anchor);
  if (traits.required) {
    row.default_value = "required";
  } else if (!traits.default_words.empty()) {
    row.default_value = traits.default_words;
  } else if (!traits.omitted_at_default && is_plain(default_value)) {
    row.default_value = show(*default_value);
  } else {
    row.default_value = "none";
  }
  row.meaning = traits.doc;
  return row;
}

Json key_schema(const KeyTraits& traits, Json schema, const std::optional<Json>& default_value) {
  // The schema gives a default only if it is a value that stored documents contain.
  const bool default_is_stored =
      !traits.required && !traits.omitted_at_default && traits.default_words.empty();
  if (default_is_stored && is_plain(default_value)) schema["default"] = *default_value;
  if (traits.doc.empty()) return schema;
  std::string description = plain_text(traits.doc);
  // Editors show the description as a sentence, so start it with a capital letter. A description
  // that starts with a name in code font keeps its case. `doc` then starts with a backtick.
  if (traits.doc.front() == description.front() && description.front() >= 'a' &&
      description.front() <= 'z') {
    description.front() = static_cast<char>(description.front() - 'a' + 'A');
  }
  schema["description"] = std::move(description);
  return schema;
}

std::string plain_text(const std::string& markdown) {
  static const std::regex k_link(R"(\[([^\]]*)\]\([^)]*\))");
  std::string text = std::regex_replace(markdown, k_link, "$1");
  std::erase(text, '`');
  return text;
}

}  // namespace steptune::document
