// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/replay/recorded_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/json.hpp"
#include "common/text.hpp"
#include "trial_runner/replay/csv.hpp"

namespace steptune {
namespace {

constexpr char k_separator = '\x1f';

/// One text for all ways to write the same value.
std::string canonical(std::string_view text) {
  if (text == "true" || text == "True") return "1";
  if (text == "false" || text == "False") return "0";
  if (const auto number = parse_finite(text)) return to_text(Value(*number));
  return std::string(text);
}

struct Layout {
  std::string csv;
  std::string objective;
  std::string unit;
  std::vector<std::string> parameters;
  std::vector<std::string> others;
};

Result<Layout> read_layout(const std::filesystem::path& json_file) {
  auto document = read_json_file(json_file);
  if (!document) return tl::unexpected(document.error());
  try {
    Layout layout;
    layout.csv = document->at("csv").get<std::string>();
    layout.objective = document->at("objective").get<std::string>();
    layout.unit = document->value("unit", "");
    for (const Json& parameter : document->at("params")) {
      layout.parameters.push_back(parameter.at("name").get<std::string>());
    }
    if (document->contains("others")) {
      layout.others = document->at("others").get<std::vector<std::string>>();
    }
    if (layout.parameters.empty()) {
      return fail(ErrorKind::usage, "names no parameters", json_file.string() + "#/params");
    }
    return layout;
  } catch (const Json::exception& exception) {
    return fail(ErrorKind::usage,
                fmt::format("is not the description of a recorded table: {}", exception.what()),
                json_file.string(),
                "it needs \"csv\", \"params\" (each with a \"name\") and \"objective\"");
  }
}

Result<std::size_t> column_of(const CsvFile& csv, const std::string& name,
                              const std::filesystem::path& csv_file) {
  const auto found = std::find(csv.header.begin(), csv.header.end(), name);
  if (found == csv.header.end()) {
    return fail(ErrorKind::usage,
                fmt::format("has no column \"{}\"{}", name, did_you_mean(name, csv.header)),
                csv_file.string());
  }
  return static_cast<std::size_t>(found - csv.header.begin());
}

Result<std::vector<std::size_t>> columns_of(const CsvFile& csv,
                                            const std::vector<std::string>& names,
                                            const std::filesystem::path& csv_file) {
  std::vector<std::size_t> columns;
  for (const std::string& name : names) {
    const auto column = column_of(csv, name, csv_file);
    if (!column) return tl::unexpected(column.error());
    columns.push_back(*column);
  }
  return columns;
}

}  // namespace

Result<RecordedTable> RecordedTable::read(const std::filesystem::path& json_file) {
  const auto layout = read_layout(json_file);
  if (!layout) return tl::unexpected(layout.error());
  const std::filesystem::path csv_file = json_file.parent_path() / layout->csv;
  const auto csv = read_csv_file(csv_file);
  if (!csv) return tl::unexpected(csv.error());

  RecordedTable table;
  table.parameters_ = layout->parameters;
  table.measured_.push_back({layout->objective, layout->unit});
  std::vector<std::string> measured{layout->objective};
  for (const std::string& other : layout->others) {
    table.measured_.push_back({other, ""});
    measured.push_back(other);
  }
  const auto parameter_columns = columns_of(*csv, table.parameters_, csv_file);
  if (!parameter_columns) return tl::unexpected(parameter_columns.error());
  const auto measured_columns = columns_of(*csv, measured, csv_file);
  if (!measured_columns) return tl::unexpected(measured_columns.error());

  for (const auto& cells : csv->rows) {
    std::string key, shown;
    for (std::size_t i = 0; i < table.parameters_.size(); ++i) {
      const std::string& cell = cells[(*parameter_columns)[i]];
      key += canonical(cell) + k_separator;
      shown += fmt::format(" {}={}", table.parameters_[i], cell);
    }
    Row row;
    for (const std::size_t column : *measured_columns)
      row.push_back(parse_finite(cells[column]));
    if (!table.rows_.emplace(std::move(key), std::move(row)).second) {
      return fail(ErrorKind::usage, "has two rows for" + shown, csv_file.string());
    }
  }
  return table;
}

tl::expected<const RecordedTable::Row*, std::string> RecordedTable::find(
    const Configuration& configuration) const {
  std::string key;
  for (const std::string& parameter : parameters_) {
    const Value* value = configuration.find(parameter);
    if (value == nullptr) {
      return tl::unexpected(fmt::format(
          "the configuration has no \"{}\", a parameter of the recorded table", parameter));
    }
    key += canonical(to_text(*value)) + k_separator;
  }
  for (const auto& [name, value] : configuration.values()) {
    if (std::find(parameters_.begin(), parameters_.end(), name) == parameters_.end()) {
      return tl::unexpected(fmt::format("the recorded table has no parameter \"{}\"{}", name,
                                        did_you_mean(name, parameters_)));
    }
  }
  const auto found = rows_.find(key);
  if (found == rows_.end()) {
    return tl::unexpected("the recorded table has no row for " + configuration.text() +
                          ": not measured, or not possible");
  }
  return &found->second;
}

}  // namespace steptune
