// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/initial_design.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "common/rng.hpp"
#include "search/searchers/sobol_points.hpp"

namespace steptune::bayes {
namespace {

/// Number of two-level parameters that get different columns from the Sobol sequence. A column is
/// the first binary digit of a coordinate in the first eight points. Three direction numbers decide
/// it: the first always sets the digit, the second and the third may. That gives four columns, if
/// columns that differ only by exchanging 0 and 1 count once.
constexpr std::size_t k_sobol_columns = 4;

/// Returns the two levels' quantiles (0.25 and 0.75) in random order, each in half of the points.
std::vector<double> random_column(std::size_t points, Rng& rng) {
  std::vector<double> column(points);
  for (std::size_t i = 0; i < points; ++i)
    column[i] = i % 2 == 0 ? 0.25 : 0.75;
  for (std::size_t i = points; i > 1; --i)
    std::swap(column[i - 1], column[rng.below(i)]);
  return column;
}

/// Counts the points at which two columns agree, and those at which they differ. Returns the
/// absolute difference of the two counts; 0 for uncorrelated columns.
int likeness(const std::vector<double>& one, const std::vector<double>& other) {
  int agreeing = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    agreeing += one[i] == other[i] ? 1 : -1;
  return std::abs(agreeing);
}

}  // namespace

InitialDesign::InitialDesign(const SearchSpace& space, std::uint64_t seed)
    : space_(space), seed_(seed) {
  std::vector<std::size_t> two_level;
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    if (space.parameters()[i].level_count() == std::uint64_t{2}) two_level.push_back(i);
  }
  if (two_level.size() <= k_sobol_columns) return;
  for (const std::size_t parameter : two_level)
    add_column(parameter);
}

void InitialDesign::add_column(std::size_t parameter) {
  Rng rng(seed_, "bayes/two-levels", parameter);
  int least = std::numeric_limits<int>::max();
  Column column{parameter, {}};
  // Draw random columns, and choose the column that is least like those of earlier parameters.
  for (int draws = 0; draws < 32; ++draws) {
    auto drawn = random_column(static_cast<std::size_t>(default_size()), rng);
    int most_alike = 0;
    for (const Column& other : columns_)
      most_alike = std::max(most_alike, likeness(drawn, other.quantiles));
    if (most_alike >= least) continue;
    least = most_alike;
    column.quantiles = std::move(drawn);
  }
  columns_.push_back(std::move(column));
}

int InitialDesign::default_size() const {
  const auto varying = std::count_if(
      space_.parameters().begin(), space_.parameters().end(),
      [](const Parameter& parameter) { return parameter.level_count().value_or(2) > 1; });
  return std::clamp(static_cast<int>(varying) + 1, 4, 10);
}

std::optional<Point> InitialDesign::next(
    const std::function<bool(std::span<const double>)>& admissible) const {
  const std::size_t dimensions = space_.parameters().size();
  if (dimensions == 0) return std::nullopt;
  SobolPoints sequence(dimensions, seed_);
  for (std::size_t i = 0; i < std::size_t{k_most_draws}; ++i) {
    std::vector<double> quantiles = sequence.next();
    for (const Column& column : columns_) {
      if (i < column.quantiles.size()) quantiles[column.parameter] = column.quantiles[i];
    }
    auto point = space_.point_at_quantiles(quantiles);
    if (point && admissible(*point)) return point;
  }
  return std::nullopt;
}

}  // namespace steptune::bayes
