// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "tuner/config_edit/config_file.hpp"

namespace steptune {
namespace {

/// Converts toml++'s positions (line and character, both counted from 1) into positions in bytes.
class TomlPlaces {
 public:
  explicit TomlPlaces(std::string_view text) : text_(text) {
    starts_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') starts_.push_back(i + 1);
    }
  }
  [[nodiscard]] std::size_t of(const toml::source_position& position) const {
    if (position.line == 0 || position.line > starts_.size()) return text_.size();
    std::size_t byte = starts_[position.line - 1];
    for (toml::source_index column = 1; column < position.column && byte < text_.size(); ++column) {
      ++byte;
      while (byte < text_.size() && (static_cast<unsigned char>(text_[byte]) & 0xC0U) == 0x80U)
        ++byte;
    }
    return byte;
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_;
};

Json typed_toml(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* truth = node.as_boolean()) return truth->get();
  return {};
}

void collect(const toml::node& node, std::vector<std::string> path, const TomlPlaces& places,
             std::vector<ConfigScalar>& scalars) {
  if (const auto* table = node.as_table()) {
    for (const auto& [key, value] : *table) {
      path.emplace_back(key.str());
      collect(value, path, places, scalars);
      path.pop_back();
    }
    return;
  }
  if (const auto* list = node.as_array()) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      path.push_back(std::to_string(i));
      collect((*list)[i], path, places, scalars);
      path.pop_back();
    }
    return;
  }
  ConfigScalar found;
  found.path = std::move(path);
  found.begin = places.of(node.source().begin);
  found.end = places.of(node.source().end);
  found.line = static_cast<int>(node.source().begin.line);
  found.value = typed_toml(node);
  if (found.value.is_null()) found.why_fixed = "it is a date or a time";
  scalars.push_back(std::move(found));
}

}  // namespace

Result<std::vector<ConfigScalar>> scan_toml(std::string_view text, const std::string& where) {
  try {
    const toml::table table = toml::parse(text, where);
    std::vector<ConfigScalar> scalars;
    collect(table, {}, TomlPlaces(text), scalars);
    std::ranges::sort(scalars, {}, &ConfigScalar::begin);
    return scalars;
  } catch (const toml::parse_error& error) {
    const auto& begin = error.source().begin;
    return fail(ErrorKind::usage, fmt::format("is not TOML: {}", error.description()),
                fmt::format("{}:{}:{}", where, begin.line, begin.column));
  }
}

}  // namespace steptune
