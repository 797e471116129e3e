// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "benchmarks/search_quality/summary.hpp"
#include "common/error.hpp"

namespace steptune::search_quality {

/// Results of all seeds of one searcher on one problem in an earlier version (`results_of`).
struct StoredFigures {
  std::string problem;
  std::string searcher;
  int trials = 0;
  std::vector<double> results;
};

/// Reads a file that `write_figures` wrote.
[[nodiscard]] Result<std::vector<StoredFigures>> read_figures(const std::filesystem::path& file);
[[nodiscard]] Result<void> write_figures(const std::filesystem::path& file,
                                         const std::vector<StoredFigures>& figures);

/// Returns the entry of `figures` with the same problem, searcher and number of trials, or null.
[[nodiscard]] const StoredFigures* find_figures(const std::vector<StoredFigures>& figures,
                                                const std::string& problem,
                                                const std::string& searcher, int trials);

}  // namespace steptune::search_quality
