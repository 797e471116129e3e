// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/configuration.hpp"
#include "common/error.hpp"
#include "common/rng.hpp"
#include "search/space/expression.hpp"
#include "search/space/parameter.hpp"

namespace steptune {

/// Coordinates of a configuration, one for each parameter in the order of declaration:
/// `Parameter::position_of` for active parameters, `k_inactive` for inactive ones.
using Point = std::vector<double>;
inline constexpr double k_inactive = -1.0;

/// Largest numbers of parameters and of constraints of a space.
inline constexpr std::size_t k_max_parameters = 100;
inline constexpr std::size_t k_max_constraints = 200;
/// Largest number of configurations that a searcher lists one by one.
inline constexpr std::uint64_t k_most_enumerated = 1'000'000;
/// Largest number of configurations that are listed to count them, or to choose among them if the
/// constraints leave few.
inline constexpr std::uint64_t k_most_counted = 200'000;

/// Largest number of random points that are drawn to find one that satisfies constraints or is
/// untried. Drawing them takes a fraction of a second.
inline constexpr int k_most_draws = 50'000;

class SpaceRules;

/// Typed parameters with conditions and constraints. Immutable; copies share compiled expressions.
/// Every method may be called from several threads at once.
///
/// Searchers that examine many candidates use points (`snap`, `enumerate_points`,
/// `neighbour_points`), which cost much less time than configurations.
class SearchSpace {
 public:
  /// Makes a space. Errors name the invalid parameter or constraint; `Error::where` is a JSON
  /// pointer into the study file: `/parameters/prefetch/when`, `/constraints/0`. A condition may
  /// mention only parameters declared before its own. A text that is compared with a parameter must
  /// be one of its choices. Fails if no configuration is found that satisfies the constraints.
  [[nodiscard]] static Result<SearchSpace> create(std::vector<Parameter> parameters,
                                                  const std::vector<std::string>& constraints,
                                                  const Facts& facts);

  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  [[nodiscard]] const std::vector<std::string>& constraints() const { return constraint_texts_; }
  [[nodiscard]] const Parameter* find(std::string_view name) const;

  /// Returns the product of the level counts, before conditions and constraints; nullopt if a
  /// parameter is continuous or the product is too large.
  [[nodiscard]] std::optional<std::uint64_t> product_size() const;

  /// Returns an error if `configuration` is not in the space: an unknown, missing, inactive or
  /// out-of-range parameter, or a violated constraint. `Error::where` is a JSON pointer into the
  /// configuration; empty for a missing parameter or a violated constraint.
  [[nodiscard]] Result<void> check(const Configuration& configuration) const;
  [[nodiscard]] bool contains(const Configuration& configuration) const {
    return check(configuration).has_value();
  }

  /// Returns the point of a configuration; NaN for each value that its parameter does not have.
  [[nodiscard]] Point encode(const Configuration& configuration) const;
  /// Returns the configuration of a point. Takes the nearest value for each coordinate, and leaves
  /// out parameters whose condition is false. `k_inactive` counts as 0 for an active parameter. The
  /// result may violate constraints (`check`).
  [[nodiscard]] Configuration decode(const Point& point) const;

  /// Replaces `point` by `encode(decode(point))`, in about a tenth of the time. Returns true if the
  /// constraints are satisfied.
  [[nodiscard]] bool snap(std::span<double> point) const;

  /// Draws a point, each parameter uniformly (`point_at_quantiles`). Returns nullopt if the point
  /// violates a constraint.
  [[nodiscard]] std::optional<Point> draw(Rng& rng) const;
  /// Draws a configuration, each parameter uniformly, among those that satisfy the constraints.
  /// Returns nullopt if `attempts` draws found none and the space is too large to enumerate.
  [[nodiscard]] std::optional<Configuration> sample(Rng& rng, int attempts = 10'000) const;
  /// Returns the point at the given quantiles, one in [0, 1) for each parameter
  /// (`Parameter::at_quantile`). Returns nullopt if the point violates a constraint.
  [[nodiscard]] std::optional<Point> point_at_quantiles(std::span<const double> quantiles) const;

  /// Returns every configuration of the space once, in order of declaration (last parameter
  /// fastest); nullopt if `product_size` is unknown or above `limit`.
  [[nodiscard]] std::optional<std::vector<Configuration>> enumerate(std::uint64_t limit) const;

  /// Returns every configuration as a point, in rows of `parameters().size()` coordinates; nullopt
  /// if there are more than `limit` or a parameter is continuous. Constraints prune whole branches,
  /// so the product of levels may be far larger than the limit. Gives up after visiting 16 branches
  /// for each allowed row.
  [[nodiscard]] std::optional<std::vector<double>> enumerate_points(std::uint64_t limit) const;

  /// Returns, in rows, the points of the space that differ from `point` in one parameter. They also
  /// differ in the parameters that this change activates or deactivates. Tries every other choice
  /// of an unordered parameter. Tries every level of an ordered parameter with few levels;
  /// otherwise the adjacent levels and some farther away. Tries the first, middle and last value of
  /// a newly active parameter. Each point occurs once. `point` must come from `snap`.
  [[nodiscard]] std::vector<double> neighbour_points(std::span<const double> point) const;

 private:
  SearchSpace() = default;

  /// A parameter's levels, for `snap`. The tables are empty if there are too many levels.
  struct Column {
    std::uint64_t levels = 0;  ///< 0 if continuous
    bool even = true;          ///< true if levels are equally far apart
    std::vector<double> positions;
    std::vector<double> numbers;  ///< numbers for expressions
  };
  struct Located {
    double position = 0.0;
    double number = 0.0;
  };
  /// Function that receives each point of the space; returns false to end the walk.
  using Visit = std::function<bool(std::span<const double> point)>;
  enum class Walk { finished, ended, gave_up };

  [[nodiscard]] Located locate(std::size_t parameter, double coordinate) const;
  [[nodiscard]] bool discrete() const;
  [[nodiscard]] Walk walk(std::uint64_t max_branches, const Visit& visit) const;
  /// Returns nullopt if a configuration that satisfies the constraints is found. Otherwise returns
  /// an error that says how configurations were searched, and what to do.
  [[nodiscard]] std::optional<Error> why_unsatisfiable() const;
  [[nodiscard]] Result<void> check_values(const Configuration& configuration) const;

  std::vector<Parameter> parameters_;
  std::vector<std::string> constraint_texts_;
  std::vector<Column> columns_;
  std::shared_ptr<const SpaceRules> rules_;
};

}  // namespace steptune
