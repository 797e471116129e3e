// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "benchmarks/search_quality/summary.hpp"
#include "common/error.hpp"

namespace steptune::search_quality {

/// What the seeds of one searcher came to on one problem in an earlier version: see `results_of`.
struct StoredFigures {
  std::string problem;
  std::string searcher;
  int trials = 0;
  std::vector<double> results;
};

/// The file that `write_figures` has made.
[[nodiscard]] Result<std::vector<StoredFigures>> read_figures(const std::filesystem::path& file);
[[nodiscard]] Result<void> write_figures(const std::filesystem::path& file,
                                         const std::vector<StoredFigures>& figures);

/// The entry of `figures` of the same problem, searcher and number of trials, or null.
[[nodiscard]] const StoredFigures* find_figures(const std::vector<StoredFigures>& figures,
                                                const std::string& problem,
                                                const std::string& searcher, int trials);

}  // namespace steptune::search_quality
