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

/// A recorded tuning table: one row for each measured configuration. A JSON file describes the
/// table: `csv` is the name of the CSV file in the same folder; `params` (each with a `name`),
/// `objective` and `others` are its columns; `unit` is the objective's unit; `parts` are those
/// `others` that are parts of the objective.
class RecordedTable {
 public:
  /// Returns an error if a file is unreadable or malformed, or if a column is missing. Also returns
  /// an error if a part is not a measured column, or if two rows have the same configuration.
  [[nodiscard]] static Result<RecordedTable> read(const std::filesystem::path& json_file);
  /// Creates the table from a description, its file name `where`, and the content of its CSV file.
  [[nodiscard]] static Result<RecordedTable> create(const Json& description,
                                                    const std::string& where, const Csv& csv);

  /// Returns the measured values of a configuration's row, in the order of `measured`; nullopt for
  /// a cell without a number. If there is no such row, the error says why. Values are compared as
  /// numbers if both are numbers (`1e-05` is 0.00001; true and false are 1 and 0), otherwise as
  /// texts.
  using Row = std::vector<std::optional<double>>;
  [[nodiscard]] tl::expected<const Row*, std::string> find(
      const Configuration& configuration) const;

  struct Column {
    std::string name;
    std::string unit;      ///< empty if the file names none
    bool is_part = false;  ///< part of the objective, which is a time
  };
  [[nodiscard]] const std::vector<std::string>& parameters() const { return parameters_; }
  /// Returns the measured columns: the objective first, then the others.
  [[nodiscard]] const std::vector<Column>& measured() const { return measured_; }
  [[nodiscard]] const std::unordered_map<std::string, Row>& rows() const { return rows_; }

 private:
  std::vector<std::string> parameters_;
  std::vector<Column> measured_;
  std::unordered_map<std::string, Row> rows_;  ///< by the canonical texts of the parameters
};

}  // namespace steptune
