// SPDX-License-Identifier: Apache-2.0
#include "common/text.hpp"

#include <algorithm>
#include <charconv>
#include <climits>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/terminal_text.hpp"
#include "common/units.hpp"
#include "common/utf8.hpp"

namespace steptune {
namespace {

/// Returns the number of insertions, deletions, substitutions and swaps of neighbours that turn `a`
/// into `b` (optimal string alignment; Damerau 1964).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substituted});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

/// True for control characters of ASCII and ISO 6429 (U+0080 to U+009F in UTF-8). Terminals obey
/// both: U+009B has the effect of ESC [.
bool is_control(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
  return byte(0) < 0x20 || byte(0) == 0x7F;
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const auto nearest = nearest_name(name, candidates);
  return nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : std::string{};
}

std::string printable_line(std::string_view text, std::size_t max_bytes) {
  // Fast path: most texts are printable ASCII, and long tables have thousands of them.
  if (std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; })) {
    return std::string(text.substr(0, max_bytes));
  }
  std::string line;
  bool between_lines = false;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t skip = escape_sequence_length(text.substr(at)); skip > 0) {
      at += skip;
      continue;
    }
    const std::size_t length = utf8_length(text, at);
    const std::string_view piece = length == 0 ? "\xEF\xBF\xBD" : text.substr(at, length);
    at += std::max<std::size_t>(length, 1);
    const char lead = piece[0];
    // Remember the line break: " | " will separate the lines.
    if (lead == '\n') between_lines = !line.empty();
    if (is_control(piece) && lead != '\t') continue;
    const std::string_view separator = std::exchange(between_lines, false) ? " | " : "";
    if (line.size() + separator.size() + piece.size() > max_bytes) break;
    line += separator;
    line += lead == '\t' ? std::string_view(" ") : piece;
  }
  return line;
}

std::string printable_lines(std::string_view text) {
  std::string lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (begin > 0) lines += '\n';
    lines += printable_line(text.substr(begin, end - begin), k_any_length);
    begin = end + 1;
  }
  return lines;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

bool is_file_name(std::string_view name) {
  if (name.empty() || name.size() > NAME_MAX || name.front() == '.') return false;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t length = utf8_length(name, at);
    if (length == 0 || name[at] == '/' || is_control(name.substr(at, length))) return false;
    at += length;
  }
  return true;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

std::optional<double> parse_finite(std::string_view text) {
  double number = 0.0;
  if (text.starts_with("+-")) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

std::optional<double> parse_share(std::string_view text) {
  const bool is_percent = text.ends_with('%');
  auto number = parse_finite(is_percent ? text.substr(0, text.size() - 1) : text);
  if (number && is_percent) *number *= 0.01;
  return number;
}

Result<double> parse_duration_s(std::string_view text) {
  const auto malformed = [&] {
    return fail(ErrorKind::usage, fmt::format("\"{}\" is not a duration", printable_line(text, 60)),
                {}, "write seconds as a number, or 45s, 30m, 1.5h, 2d, 1h30m");
  };
  if (text.empty()) return malformed();
  double total_s = 0.0;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t digits = rest.find_first_not_of("0123456789.");
    const auto number = parse_finite(rest.substr(0, digits));
    if (!number) return malformed();
    if (digits == std::string_view::npos) {
      // A bare number means seconds only if it is the whole text: `1h30` is malformed.
      return rest.size() == text.size() ? Result<double>(*number) : malformed();
    }
    rest.remove_prefix(digits);
    constexpr std::pair<std::string_view, double> k_units[] = {
        {"ms", 1e-3}, {"s", 1.0}, {"m", 60.0}, {"h", k_hour_s}, {"d", k_day_s}};
    const auto* unit = std::find_if(std::begin(k_units), std::end(k_units), [&](const auto& entry) {
      return rest.starts_with(entry.first);
    });
    if (unit == std::end(k_units)) return malformed();
    total_s += *number * unit->second;
    rest.remove_prefix(unit->first.size());
  }
  return total_s;
}

std::optional<double> parse_bytes(std::string_view text) {
  const std::size_t digits = text.find_last_of("0123456789.");
  if (digits == std::string_view::npos) return std::nullopt;
  const auto number = parse_finite(text.substr(0, digits + 1));
  std::string unit = lower_case(text.substr(digits + 1));
  unit.erase(0, unit.find_first_not_of(' '));
  if (unit.ends_with('b')) unit.pop_back();
  const bool binary = unit.size() == 2 && unit.back() == 'i';
  if (binary) unit.pop_back();
  constexpr std::string_view k_prefixes = "kmgt";
  const std::size_t power = unit.empty() ? 0 : k_prefixes.find(unit) + 1;
  if (!number || *number < 0.0 || unit.size() > 1 || (!unit.empty() && power == 0)) {
    return std::nullopt;
  }
  return *number * std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power));
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 0) return "-" + format_duration(-seconds);
  if (seconds < 0.9995) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  if (seconds < 3599.5) {
    const auto whole_s = static_cast<std::int64_t>(std::llround(seconds));
    return whole_s % 60 == 0 ? fmt::format("{} min", whole_s / 60)
                             : fmt::format("{} min {} s", whole_s / 60, whole_s % 60);
  }
  if (seconds < 3.0 * k_day_s) return fmt::format("{:.1f} h", seconds / k_hour_s);
  return fmt::format("{:.1f} d", seconds / k_day_s);
}

std::string format_percent(double share) {
  if (!std::isfinite(share)) return "-";
  const double percent = share * 100.0;
  if (percent != 0.0 && std::abs(percent) < 0.1) return fmt::format("{:.2g} %", percent);
  return std::abs(percent) < 9.95 ? fmt::format("{:.1f} %", percent)
                                  : fmt::format("{:.0f} %", percent);
}

std::string format_usd(double usd) {
  if (!std::isfinite(usd)) return "-";
  if (std::abs(usd) < 1e-9) return "$0.00";
  if (usd < 0.0) return "-" + format_usd(-usd);
  if (usd >= 0.095) return fmt::format("${:.2f}", usd);
  if (usd >= 1e-4) return fmt::format("${:.2g}", usd);
  // Show small amounts without an exponent, because few people read exponents as money.
  return fmt::format("${:.{}f}", usd, 1 - static_cast<int>(std::floor(std::log10(usd))));
}

}  // namespace steptune
