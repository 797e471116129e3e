// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/format.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "common/terminal_text.hpp"
#include "common/text.hpp"

namespace steptune {

std::string format_number(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  if (size == 0.0) return "0";
  if (size >= 1e7 || size < 1e-4) return fmt::format("{:.4g}", value);
  if (size >= 1000.0) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

std::string format_factor(double factor) {
  const double size = std::abs(factor);
  if (size >= 100.0) return fmt::format("{:.0f}", factor);
  // With two decimals, a factor below 0.095 would have at most one significant digit.
  return size > 0.0 && size < 0.095 ? fmt::format("{:.2g}", factor) : fmt::format("{:.2f}", factor);
}

std::string format_ratio(double ratio) {
  return std::isfinite(ratio) ? format_factor(ratio) + "x" : "-";
}

std::string format_bytes(double bytes) {
  constexpr std::array k_units{"B", "KiB", "MiB", "GiB", "TiB"};
  if (!std::isfinite(bytes)) return "-";
  std::size_t unit = 0;
  // A value from 1023.5 on would be rounded to 1024.
  while (std::abs(bytes) >= (unit == 0 ? 1024.0 : 1023.5) && unit + 1 < k_units.size()) {
    bytes /= 1024.0;
    ++unit;
  }
  return unit == 0 || std::abs(bytes) >= 99.95 ? fmt::format("{:.0f} {}", bytes, k_units[unit])
                                               : fmt::format("{:.1f} {}", bytes, k_units[unit]);
}

std::string format_ghz(double hz) {
  return std::isfinite(hz) ? fmt::format("{:.2f} GHz", hz / 1e9) : "-";
}

std::string format_utc(double wall_time_s) {
  // Years 0 to 9999: the range of the format and of gmtime.
  const double seconds = std::isfinite(wall_time_s)
                             ? std::clamp(std::floor(wall_time_s), -62167219200.0, 253402300799.0)
                             : 0.0;
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

namespace {

/// Calls `use` with the text and columns of each character; skips ANSI sequences.
template <typename Use>
void for_each_character(std::string_view text, Use use) {
  while (!text.empty()) {
    if (const std::size_t skip = escape_sequence_length(text); skip > 0) {
      text.remove_prefix(skip);
      continue;
    }
    const CharacterSize size = character_size(text);
    use(text.substr(0, size.bytes), size.columns);
    text.remove_prefix(size.bytes);
  }
}

}  // namespace

std::size_t display_width(std::string_view text) {
  // Most texts are ASCII, with one column for each byte. Check this first, because long tables have
  // thousands of texts.
  if (std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; })) return text.size();
  std::size_t width = 0;
  for_each_character(text, [&](std::string_view, std::size_t columns) { width += columns; });
  return width;
}

std::string elide_middle(std::string_view text, std::size_t width) {
  constexpr std::string_view k_dots = "...";
  if (display_width(text) <= width) return std::string(text);
  if (width <= k_dots.size()) return std::string(k_dots.substr(0, width));
  struct Character {
    std::string_view text;
    std::size_t columns;
  };
  std::vector<Character> characters;
  for_each_character(text, [&](std::string_view character, std::size_t columns) {
    characters.push_back({character, columns});
  });
  const std::size_t kept = width - k_dots.size();
  std::size_t head = (kept + 1) / 2;
  std::size_t tail = kept - head;
  std::string result;
  for (const Character& character : characters) {
    if (character.columns > head) break;
    head -= character.columns;
    result += character.text;
  }
  std::size_t begin = characters.size();
  for (; begin > 0 && characters[begin - 1].columns <= tail; --begin)
    tail -= characters[begin - 1].columns;
  // Do not separate combining marks from their character.
  while (begin < characters.size() && characters[begin].columns == 0)
    ++begin;
  result += k_dots;
  for (; begin < characters.size(); ++begin)
    result += characters[begin].text;
  return result;
}

std::size_t readable_width(std::size_t width) {
  return std::min<std::size_t>(width, 100);
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::string result;
  std::size_t column = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(text.find(' ', begin), text.size());
    // Keep a number and its "%" together.
    if (text.substr(end, 2) == " %") end = std::min(text.find(' ', end + 1), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    const std::size_t needed = display_width(word);
    if (column > 0 && width > 0 && column + 1 + needed > width) {
      result += '\n';
      column = 0;
    }
    if (column > 0) {
      result += ' ';
      ++column;
    }
    result += word;
    column += needed;
    begin = end + 1;
  }
  return result + '\n';
}

std::string wrapped_entry(std::string_view line, std::size_t width, std::size_t indent) {
  if (width <= indent || display_width(line) <= width) return std::string(line) + '\n';
  // Blanks after the title belong to it, because `wrapped` drops leading blanks.
  const std::size_t title = std::min(line.find_first_not_of(' ', indent), line.size());
  if (width <= title) return std::string(line) + '\n';
  const std::string text = wrapped(line.substr(title), width - title);
  std::string result(line.substr(0, title));
  for (const std::string_view part : split_lines(text)) {
    if (part.data() != text.data()) result.append(title, ' ');
    result.append(part).append("\n");
  }
  return result;
}

std::string wrapped_entries(std::string_view lines, std::size_t width, std::size_t indent) {
  std::string result;
  for (const std::string_view line : split_lines(lines))
    result += wrapped_entry(line, width, indent);
  return result;
}

std::string titled_lines(std::string_view title, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += fmt::format("{:<7} {}\n", text.empty() ? title : "", printable_line(line));
  }
  return text;
}

std::string configuration_text(const Configuration& configuration,
                               const std::vector<std::string>& order) {
  std::string result;
  const auto add = [&](const std::string& name, const Value& value) {
    if (!result.empty()) result += ' ';
    result += fmt::format("{}={}", name, printable_line(to_text(value)));
  };
  for (const std::string& name : order) {
    if (const Value* value = configuration.find(name)) add(name, *value);
  }
  for (const auto& [name, value] : configuration.values()) {
    if (std::find(order.begin(), order.end(), name) == order.end()) add(name, value);
  }
  return result;
}

std::string with_blanks(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string value_or_dash(const Configuration& configuration, const std::string& name,
                          std::size_t width) {
  const Value* value = configuration.find(name);
  return value == nullptr ? "-" : printable_line(to_text(*value), width);
}

}  // namespace steptune
