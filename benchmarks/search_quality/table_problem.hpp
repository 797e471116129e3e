// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "benchmarks/search_quality/problem.hpp"
#include "common/error.hpp"

namespace steptune::search_quality {

struct TableOptions {
  bool two_objectives = false;
  /// Column of the second objective, `column` or `column:maximize`. nullopt: the first of the
  /// table's `others`.
  std::optional<std::string> second;
  /// Parameter that is a resource of trials (fidelity), not a choice.
  std::optional<std::string> fidelity;
};

/// Reads a recorded tuning table. `T.json` describes the columns of the CSV file beside it:
/// `params` (name, kind `cat`, `ord`, `int` or `float`, values in order), `objective`, `direction`
/// and `others`. Combinations that the CSV lacks, or whose objective is empty, fail.
///
/// Declares parameters as a user would: ordered numbers become numbers, evenly spaced numbers
/// become ranges, and "false" and "true" become a truth value. Two objectives are compared by
/// hypervolume, with the medians as reference point. If both objectives are
/// minimised and all values are positive, their logarithms are used.
[[nodiscard]] Result<Problem> table_problem(const std::filesystem::path& description,
                                            const TableOptions& options);

}  // namespace steptune::search_quality
