// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/search_quality/csv.hpp"

#include <fstream>
#include <string_view>

#include <fmt/format.h>

namespace steptune::search_quality {
namespace {

constexpr std::uintmax_t k_max_bytes = std::uintmax_t{256} << 20;

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      const bool doubled = quoted && i + 1 < line.size() && line[i + 1] == '"';
      if (doubled) {
        fields.back() += '"';
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

}  // namespace

Result<Csv> read_csv(const std::filesystem::path& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error) return fail(ErrorKind::not_found, "cannot be read: " + error.message(), path.string());
  if (bytes > k_max_bytes) return fail(ErrorKind::usage, "larger than 256 MiB", path.string());
  std::ifstream file(path);
  if (!file) return fail(ErrorKind::not_found, "cannot be read", path.string());
  Csv csv;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line == "\r") continue;
    auto fields = fields_of(line);
    if (csv.columns.empty()) {
      csv.columns = std::move(fields);
      continue;
    }
    if (fields.size() != csv.columns.size()) {
      return fail(ErrorKind::usage,
                  fmt::format("line {} has {} fields, the header {}", number, fields.size(),
                              csv.columns.size()),
                  path.string());
    }
    csv.rows.push_back(std::move(fields));
  }
  if (csv.rows.empty()) return fail(ErrorKind::usage, "has no rows", path.string());
  return csv;
}

}  // namespace steptune::search_quality
