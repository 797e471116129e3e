// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace steptune {

/// Returns the indices of the pairs (to be minimised) that no other pair dominates, by ascending
/// first value. If several pairs are equal, returns the first. Sorts pairs by their first value. A
/// pair is then dominated exactly if an earlier pair's second value is at least as good (Kung,
/// Luccio and Preparata 1975). No value may be NaN.
[[nodiscard]] inline std::vector<std::size_t> pareto_front(
    std::span<const std::array<double, 2>> pairs) {
  std::vector<std::pair<std::array<double, 2>, std::size_t>> sorted;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    sorted.emplace_back(pairs[i], i);
  std::ranges::sort(sorted);
  std::vector<std::size_t> front;
  for (const auto& [pair, index] : sorted) {
    if (front.empty() || pair[1] < pairs[front.back()][1]) front.push_back(index);
  }
  return front;
}

}  // namespace steptune
