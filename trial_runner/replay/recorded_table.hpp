// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <tl/expected.hpp>

#include "common/configuration.hpp"
#include "common/csv.hpp"
#include "common/error.hpp"
#include "common/json.hpp"

namespace steptune {

/// A recorded tuning table: one row per measured configuration. The JSON file names `csv` (beside
/// it), `params` (each with a `name`), `objective`, its `unit`, `others`, and which of these are
/// `parts` of the objective; the CSV file has these columns.
class RecordedTable {
 public:
  /// Errors: unreadable or malformed files, a column that is missing, a part that is none of the
  /// measured columns, two rows for one configuration.
  [[nodiscard]] static Result<RecordedTable> read(const std::filesystem::path& json_file);
  /// The same of a description, of which `where` names the file, and its CSV file's content.
  [[nodiscard]] static Result<RecordedTable> create(const Json& description,
                                                    const std::string& where, const Csv& csv);

  /// The measured values of a configuration's row, in the order of `measured`; nothing where a cell
  /// is empty or no number. An error says why there is no such row. Values match as numbers where
  /// both are numbers (`1e-05` is 0.00001), true and false as 1 and 0, else as texts.
  using Row = std::vector<std::optional<double>>;
  [[nodiscard]] tl::expected<const Row*, std::string> find(
      const Configuration& configuration) const;

  struct Column {
    std::string name;
    std::string unit;      ///< empty where the file tells none
    bool is_part = false;  ///< of the objective, which is a time: what it was spent on
  };
  [[nodiscard]] const std::vector<std::string>& parameters() const { return parameters_; }
  /// The objective, then the others.
  [[nodiscard]] const std::vector<Column>& measured() const { return measured_; }
  [[nodiscard]] const std::unordered_map<std::string, Row>& rows() const { return rows_; }

 private:
  std::vector<std::string> parameters_;
  std::vector<Column> measured_;
  std::unordered_map<std::string, Row> rows_;  ///< by the canonical texts of the parameters
};

}  // namespace steptune
