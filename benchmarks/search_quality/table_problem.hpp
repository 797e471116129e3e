// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "benchmarks/search_quality/problem.hpp"
#include "common/error.hpp"

namespace steptune::search_quality {

struct TableOptions {
  bool two_objectives = false;
  /// The second objective, `column` or `column:maximize`; nothing: the first of the table's others.
  std::optional<std::string> second;
  /// A parameter that is a resource rather than a choice.
  std::optional<std::string> fidelity;
};

/// A recorded tuning table: `T.json` describes the columns of the CSV file beside it (`params` with
/// name, kind `cat`, `ord`, `int` or `float` and values in order; `objective`, `direction`,
/// `others`). Combinations that the CSV lacks, or whose objective is empty, fail.
///
/// Ordered values that are numbers become numbers, evenly spaced ones ranges, and "false" and
/// "true" a truth value, as a user would declare them. Two objectives are compared by hypervolume,
/// of the logarithms where all values are positive, with the medians as reference point.
[[nodiscard]] Result<Problem> table_problem(const std::filesystem::path& description,
                                            const TableOptions& options);

}  // namespace steptune::search_quality
