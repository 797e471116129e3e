// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "common/csv.hpp"
#include "common/json.hpp"
#include "tests/fuzz/targets.hpp"
#include "trial_runner/replay/recorded_table.hpp"

namespace steptune::fuzz {

void run_recorded_table(std::string_view input) {
  const auto [description, rows] = split_at_mark(input);
  const auto csv = parse_csv(rows, "table.csv");
  if (csv) {
    for (const auto& cells : csv->rows)
      require(cells.size() == csv->header.size(), "a row of another width than the header");
  }
  const auto document = parse_json(description, "table.json");
  if (!document || !csv) return;
  const auto table = RecordedTable::create(*document, "table.json", *csv);
  if (!table) {
    require(!table.error().where.empty(), "an error without its place: " + table.error().text());
    return;
  }
  require(table->rows().size() == csv->rows.size(), "rows were lost");
  for (const auto& [key, row] : table->rows()) {
    require(row.size() == table->measured().size(), "a row lacks a measured column");
    for (const auto& value : row)
      require(!value || std::isfinite(*value), "a measured value that is not finite");
  }
  // Each recorded configuration is found by the texts of its cells.
  Configuration configuration;
  for (const std::string& parameter : table->parameters()) {
    const auto column = csv->column(parameter);
    require(column.has_value(), "a parameter without a column");
    configuration.set(parameter, csv->rows.front()[*column]);
  }
  const auto found = table->find(configuration);
  require(found.has_value(), found ? "" : found.error());
}

}  // namespace steptune::fuzz
