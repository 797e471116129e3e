// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "benchmarks/search_quality/stored_figures.hpp"

namespace steptune::search_quality {

/// Results beside those of an earlier version: one-sided Mann-Whitney tests that they are worse.
class Comparison {
 public:
  /// `stored`: a file of `write_figures`; empty: there is nothing to compare with.
  [[nodiscard]] static Result<Comparison> open(const std::filesystem::path& stored);

  /// What is to be said of the campaign, for people; empty without stored figures.
  [[nodiscard]] std::string add(const Problem& problem, const Campaign& campaign, int trials);

  /// Writes all results to the file `store`, unless that is empty. An error of kind `conflict`
  /// names what is worse than the stored figures with p < 0.01.
  [[nodiscard]] Result<void> close(const std::filesystem::path& store) const;

 private:
  std::filesystem::path file_;
  std::vector<StoredFigures> stored_;
  std::vector<StoredFigures> figures_;
  std::string worse_;
};

}  // namespace steptune::search_quality
