// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/replay/csv.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace steptune {
namespace {

constexpr std::uintmax_t k_max_file_bytes = std::uintmax_t{256} << 20;

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool doubled = quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"';
    if (doubled) {
      cells.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

}  // namespace

Result<CsvFile> read_csv_file(const std::filesystem::path& path) {
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
  if (!file) {
    const std::string reason = std::generic_category().message(errno);
    return fail(ErrorKind::not_found, "cannot be read: " + reason, path.string());
  }
  CsvFile csv;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    std::vector<std::string> cells = cells_of(line);
    if (csv.header.empty()) {
      csv.header = std::move(cells);
    } else if (cells.size() != csv.header.size()) {
      return fail(ErrorKind::usage,
                  fmt::format("{} cells where the header has {}", cells.size(), csv.header.size()),
                  fmt::format("{}:{}", path.string(), number));
    } else {
      csv.rows.push_back(std::move(cells));
    }
  }
  if (csv.rows.empty()) return fail(ErrorKind::usage, "has no rows", path.string());
  return csv;
}

}  // namespace steptune
