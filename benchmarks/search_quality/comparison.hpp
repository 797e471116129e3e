// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "benchmarks/search_quality/stored_figures.hpp"

namespace steptune::search_quality {

/// Compares results with those of an earlier version. One-sided Mann-Whitney tests show if the new
/// results are worse.
class Comparison {
 public:
  /// Reads `stored`, a file of `write_figures`. If the path is empty, there is nothing to compare
  /// with.
  [[nodiscard]] static Result<Comparison> open(const std::filesystem::path& stored);

  /// Adds a campaign and returns its comparison as text for people. The text is empty without
  /// stored figures.
  [[nodiscard]] std::string add(const Problem& problem, const Campaign& campaign, int trials);

  /// Writes all results to the file `store`, unless the path is empty. Returns an error of kind
  /// `conflict` that lists the results that are worse than the stored ones with p < 0.01.
  [[nodiscard]] Result<void> close(const std::filesystem::path& store) const;

 private:
  std::filesystem::path file_;
  std::vector<StoredFigures> stored_;
  std::vector<StoredFigures> figures_;
  std::string worse_;
};

}  // namespace steptune::search_quality
