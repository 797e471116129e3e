// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/replay/recorded_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/csv.hpp"
#include "common/json.hpp"
#include "common/text.hpp"

namespace steptune {
namespace {

constexpr char k_separator = '\x1f';

/// Returns the same text for all spellings of a value: `1` for `true`, `True` and `1.0`.
std::string canonical(std::string_view text) {
  if (text == "true" || text == "True") return "1";
  if (text == "false" || text == "False") return "0";
  if (const auto number = parse_finite(text)) return to_text(Value(*number));
  return std::string(text);
}

struct Layout {
  std::string objective;
  std::string unit;
  std::vector<std::string> parameters;
  std::vector<std::string> others;
  std::vector<std::string> parts;
};

tl::unexpected<Error> not_a_table(const Json::exception& exception, const std::string& where) {
  return fail(ErrorKind::usage,
              fmt::format("does not describe a recorded table: {}", exception.what()), where,
              "it needs csv, params (with name) and objective");
}

Result<Layout> layout_of(const Json& description, const std::string& where) {
  try {
    Layout layout;
    layout.objective = description.at("objective").get<std::string>();
    layout.unit = description.value("unit", "");
    for (const Json& parameter : description.at("params")) {
      layout.parameters.push_back(parameter.at("name").get<std::string>());
    }
    if (description.contains("others")) {
      layout.others = description.at("others").get<std::vector<std::string>>();
    }
    if (description.contains("parts")) {
      layout.parts = description.at("parts").get<std::vector<std::string>>();
    }
    if (layout.parameters.empty()) {
      return fail(ErrorKind::usage, "names no parameters", where + "#/params");
    }
    return layout;
  } catch (const Json::exception& exception) {
    return not_a_table(exception, where);
  }
}

Result<std::vector<std::size_t>> columns_of(const Csv& csv, const std::vector<std::string>& names) {
  std::vector<std::size_t> columns;
  for (const std::string& name : names) {
    const auto column = csv.column(name);
    if (!column) return tl::unexpected(column.error());
    columns.push_back(*column);
  }
  return columns;
}

}  // namespace

Result<RecordedTable> RecordedTable::read(const std::filesystem::path& json_file) {
  const auto description = read_json_file(json_file);
  if (!description) return tl::unexpected(description.error());
  try {
    const auto csv =
        read_csv_file(json_file.parent_path() / description->at("csv").get<std::string>());
    if (!csv) return tl::unexpected(csv.error());
    return create(*description, json_file.string(), *csv);
  } catch (const Json::exception& exception) {
    return not_a_table(exception, json_file.string());
  }
}

Result<RecordedTable> RecordedTable::create(const Json& description, const std::string& where,
                                            const Csv& csv) {
  const auto layout = layout_of(description, where);
  if (!layout) return tl::unexpected(layout.error());
  RecordedTable table;
  table.parameters_ = layout->parameters;
  table.measured_.push_back({layout->objective, layout->unit});
  std::vector<std::string> measured{layout->objective};
  for (const std::string& other : layout->others) {
    table.measured_.push_back({other, ""});
    measured.push_back(other);
  }
  for (const std::string& part : layout->parts) {
    const auto column = std::ranges::find(table.measured_, part, &Column::name);
    if (column == table.measured_.end()) {
      return fail(ErrorKind::usage,
                  fmt::format("\"{}\" is none of its measured columns{}", part,
                              did_you_mean(part, measured)),
                  where + "#/parts");
    }
    column->is_part = true;
  }
  const auto parameter_columns = columns_of(csv, table.parameters_);
  if (!parameter_columns) return tl::unexpected(parameter_columns.error());
  const auto measured_columns = columns_of(csv, measured);
  if (!measured_columns) return tl::unexpected(measured_columns.error());

  for (const auto& cells : csv.rows) {
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
      return fail(ErrorKind::usage, "has two rows for" + shown, csv.where);
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
