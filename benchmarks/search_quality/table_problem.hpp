// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "benchmarks/search_quality/problem.hpp"
#include "common/error.hpp"

namespace steptune::search_quality {

struct TableOptions {
  bool two_objectives = false;
  /// Second objective, `column` or `column:maximize`. If absent, the first of the table's `others`.
  std::optional<std::string> second;
  /// Parameter that is a resource rather than a choice.
  std::optional<std::string> fidelity;
};

/// Reads a recorded tuning table. `T.json` describes the columns of the CSV file beside it:
/// `params` (name, kind `cat`, `ord`, `int` or `float`, values in order), `objective`, `direction`
/// and `others`. Combinations that the CSV lacks, or whose objective is empty, fail.
///
/// Parameters are declared as a user would: ordered numbers become numbers, evenly spaced ones
/// ranges, and "false" and "true" a truth value. Two objectives are compared by hypervolume, with
/// the medians as reference point. If all values are positive, their logarithms are used.
[[nodiscard]] Result<Problem> table_problem(const std::filesystem::path& description,
                                            const TableOptions& options);

}  // namespace steptune::search_quality
