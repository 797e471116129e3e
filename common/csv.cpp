// SPDX-License-Identifier: Apache-2.0
#include "common/csv.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "common/system_reason.hpp"
#include "common/text.hpp"

namespace steptune {
namespace {

constexpr std::uintmax_t k_max_file_bytes = std::uintmax_t{256} << 20;

/// Removes the first record from `text`. Sets `lines` to the number of lines that the record spans.
/// Returns nullopt if a quote is never closed.
std::optional<std::vector<std::string>> take_record(std::string_view& text, std::size_t& lines) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  // True after the first character of a cell: a quote is then an ordinary character (RFC 4180).
  bool begun = false;
  lines = 1;
  std::size_t i = 0;
  for (; i < text.size() && (quoted || text[i] != '\n'); ++i) {
    const char c = text[i];
    const bool doubled = quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"';
    if (c == '\n') ++lines;
    if (doubled) {
      cells.back() += '"';
      ++i;
    } else if (c == '"' && (quoted || !begun)) {
      quoted = !quoted;
      begun = true;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
      begun = false;
    } else {
      cells.back() += c;
      begun = true;
    }
  }
  if (quoted) return std::nullopt;
  const bool carriage_return = i > 0 && text[i - 1] == '\r';
  if (carriage_return && cells.back().ends_with('\r')) cells.back().pop_back();
  text.remove_prefix(std::min(i + 1, text.size()));
  return cells;
}

}  // namespace

Result<std::size_t> Csv::column(const std::string& name) const {
  const auto found = std::ranges::find(header, name);
  if (found == header.end()) {
    return fail(
        ErrorKind::usage,
        fmt::format("has no column \"{}\"{}", printable_line(name, 60), did_you_mean(name, header)),
        where);
  }
  return static_cast<std::size_t>(found - header.begin());
}

Result<Csv> parse_csv(std::string_view text, const std::string& where) {
  Csv csv{where, {}, {}};
  // Skip the byte order mark with which spreadsheets mark files as UTF-8.
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::size_t lines = 1;
  std::size_t header_line = 1;
  for (std::size_t number = 1; !text.empty(); number += lines) {
    auto cells = take_record(text, lines);
    if (!cells) {
      return fail(ErrorKind::usage, "has a quote that is never closed",
                  fmt::format("{}:{}", where, number));
    }
    if (cells->size() == 1 && cells->front().empty()) continue;
    if (csv.header.empty()) {
      csv.header = *std::move(cells);
      header_line = number;
    } else if (cells->size() != csv.header.size()) {
      return fail(ErrorKind::usage,
                  fmt::format("{} cells, but the header has {}", cells->size(), csv.header.size()),
                  fmt::format("{}:{}", where, number));
    } else {
      csv.rows.push_back(*std::move(cells));
    }
  }
  if (csv.header.empty()) return fail(ErrorKind::usage, "is empty", where);
  if (csv.rows.empty()) {
    return fail(ErrorKind::usage, "has no rows below this header",
                fmt::format("{}:{}", where, header_line));
  }
  return csv;
}

Result<Csv> read_csv_file(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) {
    return fail(ErrorKind::not_found, "cannot be read: " + error.message(), path.string());
  }
  if (bytes > k_max_file_bytes) {
    return fail(ErrorKind::usage, fmt::format("larger than {} MiB", k_max_file_bytes >> 20),
                path.string());
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(bytes, '\0');
  if (!file || !file.read(text.data(), static_cast<std::streamsize>(bytes))) {
    const std::string reason = system_reason(errno);
    return fail(ErrorKind::not_found, "cannot be read: " + reason, path.string());
  }
  return parse_csv(text, path.string());
}

}  // namespace steptune
