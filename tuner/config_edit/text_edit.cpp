// SPDX-License-Identifier: Apache-2.0
#include "tuner/config_edit/text_edit.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace steptune {
namespace {

constexpr std::size_t k_context_lines = 3;

/// Splits a text into lines, each with its line end.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

/// Block of adjacent lines that is replaced.
struct LineBlock {
  std::size_t first = 0;
  std::size_t beyond = 0;
  std::vector<TextEdit> edits{};
};

std::vector<LineBlock> blocks_of(std::string_view text, const std::vector<TextEdit>& edits) {
  const auto line_at = [&](std::size_t byte) {
    return static_cast<std::size_t>(std::ranges::count(text.substr(0, byte), '\n'));
  };
  std::vector<LineBlock> blocks;
  for (const TextEdit& edit : edits) {
    const std::size_t first = line_at(edit.begin);
    const std::size_t beyond = line_at(std::max(edit.begin, edit.end - (edit.end > 0 ? 1 : 0))) + 1;
    if (blocks.empty() || first > blocks.back().beyond) blocks.push_back({first, beyond});
    blocks.back().beyond = std::max(blocks.back().beyond, beyond);
    blocks.back().edits.push_back(edit);
  }
  return blocks;
}

void add_lines(std::string& difference, char mark, const std::vector<std::string_view>& lines,
               std::size_t first, std::size_t beyond) {
  for (std::size_t i = first; i < beyond && i < lines.size(); ++i) {
    difference += mark;
    difference += lines[i];
    if (!lines[i].ends_with('\n')) difference += "\n\\ No newline at end of file\n";
  }
}

std::string range_text(std::size_t first, std::size_t count) {
  // diff names an empty range by the line before it.
  const std::size_t named = count == 0 ? first : first + 1;
  return count == 1 ? std::to_string(named) : fmt::format("{},{}", named, count);
}

}  // namespace

std::string edited_text(std::string_view text, const std::vector<TextEdit>& edits) {
  std::string result;
  std::size_t at = 0;
  for (const TextEdit& edit : edits) {
    result += text.substr(at, edit.begin - at);
    result += edit.text;
    at = edit.end;
  }
  return result += text.substr(at);
}

std::string unified_difference(std::string_view text, const std::vector<TextEdit>& edits,
                               const std::string& name) {
  const auto lines = lines_of(text);
  const auto blocks = blocks_of(text, edits);
  if (blocks.empty()) return {};
  std::string difference = fmt::format("--- {}\n+++ {}\n", name, name);
  std::ptrdiff_t added = 0;  // lines added by the hunks so far
  for (std::size_t from = 0; from < blocks.size();) {
    std::size_t to = from + 1;
    while (to < blocks.size() && blocks[to].first - blocks[to - 1].beyond <= 2 * k_context_lines)
      ++to;
    const std::size_t first = blocks[from].first - std::min(k_context_lines, blocks[from].first);
    const std::size_t beyond = std::min(lines.size(), blocks[to - 1].beyond + k_context_lines);
    std::string body;
    std::size_t at = first;
    std::size_t new_count = beyond - first;
    for (std::size_t i = from; i < to; ++i) {
      const LineBlock& block = blocks[i];
      add_lines(body, ' ', lines, at, block.first);
      add_lines(body, '-', lines, block.first, block.beyond);
      const auto begin = static_cast<std::size_t>(lines[block.first].data() - text.data());
      const std::string_view last = lines[block.beyond - 1];
      const auto end = static_cast<std::size_t>(last.data() - text.data()) + last.size();
      std::vector<TextEdit> within = block.edits;
      for (TextEdit& edit : within) {
        edit.begin -= begin;
        edit.end -= begin;
      }
      const std::string replacement = edited_text(text.substr(begin, end - begin), within);
      const auto new_lines = lines_of(replacement);
      add_lines(body, '+', new_lines, 0, new_lines.size());
      new_count = new_count - (block.beyond - block.first) + new_lines.size();
      at = block.beyond;
    }
    add_lines(body, ' ', lines, at, beyond);
    difference += fmt::format(
        "@@ -{} +{} @@\n{}", range_text(first, beyond - first),
        range_text(static_cast<std::size_t>(static_cast<std::ptrdiff_t>(first) + added), new_count),
        body);
    added += static_cast<std::ptrdiff_t>(new_count) - static_cast<std::ptrdiff_t>(beyond - first);
    from = to;
  }
  return difference;
}

}  // namespace steptune
