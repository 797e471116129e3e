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

/// A configuration in coordinates, one per parameter in the order of declaration:
/// `Parameter::position_of` for active parameters, `k_inactive` for the others.
using Point = std::vector<double>;
inline constexpr double k_inactive = -1.0;

/// Most parameters, and most constraints, of a space.
inline constexpr std::size_t k_max_parameters = 100;
inline constexpr std::size_t k_max_constraints = 200;

class SpaceRules;

/// Typed parameters with conditions and constraints. Immutable; copies share what is compiled;
/// every method may be called from several threads at once.
///
/// Searchers that look at many candidates work on points (`snap`, `enumerate_points`,
/// `neighbour_points`), which costs a fraction of building configurations.
class SearchSpace {
 public:
  /// Errors name the parameter or constraint at fault; `Error::where` is a JSON pointer into the
  /// study file: `/parameters/prefetch/when`, `/constraints/0`. A condition may mention only
  /// parameters declared before its own; a text that is compared with a parameter must be one of
  /// its choices; some configuration must satisfy the constraints.
  [[nodiscard]] static Result<SearchSpace> create(std::vector<Parameter> parameters,
                                                  const std::vector<std::string>& constraints,
                                                  const Facts& facts);

  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  [[nodiscard]] const std::vector<std::string>& constraints() const { return constraint_texts_; }
  [[nodiscard]] const Parameter* find(std::string_view name) const;

  /// Product of the level counts, before conditions and constraints; nothing if a parameter is
  /// continuous or the product does not fit.
  [[nodiscard]] std::optional<std::uint64_t> product_size() const;

  /// Why `configuration` is not in the space: unknown, missing, inactive or out-of-range parameter,
  /// or a constraint that does not hold. `Error::where` is a JSON pointer into the configuration.
  [[nodiscard]] Result<void> check(const Configuration& configuration) const;
  [[nodiscard]] bool contains(const Configuration& configuration) const {
    return check(configuration).has_value();
  }

  /// NaN at parameters whose value is not one of theirs.
  [[nodiscard]] Point encode(const Configuration& configuration) const;
  /// Snaps every coordinate to the nearest value and removes parameters whose condition does not
  /// hold. A coordinate of an active parameter that is `k_inactive` counts as 0. The result may
  /// violate constraints: see `check`.
  [[nodiscard]] Configuration decode(const Point& point) const;

  /// Makes `point` what `encode(decode(point))` is and tells whether the constraints hold, in about
  /// a tenth of the time.
  [[nodiscard]] bool snap(std::span<double> point) const;

  /// A configuration drawn uniformly by parameter among those that satisfy the constraints; nothing
  /// if `attempts` draws found none and the space is too large to be enumerated.
  [[nodiscard]] std::optional<Configuration> sample(Rng& rng, int attempts = 10'000) const;
  /// The point of a configuration by quantiles, one per parameter, each in [0, 1): uniform
  /// quantiles give uniform values (see `Parameter::at_quantile`). Nothing if it violates a
  /// constraint.
  [[nodiscard]] std::optional<Point> point_at_quantiles(std::span<const double> quantiles) const;

  /// Every configuration of the space, in order of declaration (last parameter fastest), each once;
  /// nothing if `product_size` is unknown or above `limit`.
  [[nodiscard]] std::optional<std::vector<Configuration>> enumerate(std::uint64_t limit) const;

  /// The same as points, one after the other in rows of `parameters().size()` coordinates; nothing
  /// if there are more than `limit` or a parameter is continuous. Constraints prune whole branches,
  /// so that the product may be far larger than the limit; gives up after visiting 16 branches per
  /// allowed row.
  [[nodiscard]] std::optional<std::vector<double>> enumerate_points(std::uint64_t limit) const;

  /// Points that differ from this one in one parameter (and what that activates or deactivates) and
  /// are in the space, in rows, each once: every other choice of unordered parameters; for ordered
  /// ones every level if there are few, else the adjacent ones and some farther off. What becomes
  /// active takes its first, middle and last value in turn. `point` is one that `snap` has made.
  [[nodiscard]] std::vector<double> neighbour_points(std::span<const double> point) const;

 private:
  SearchSpace() = default;

  /// What `snap` needs of a parameter's levels; the tables are empty where there are too many.
  struct Column {
    std::uint64_t levels = 0;  ///< 0: continuous
    bool even = true;          ///< levels are equally far apart
    std::vector<double> positions;
    std::vector<double> numbers;  ///< for expressions
  };
  struct Located {
    double position = 0.0;
    double number = 0.0;
  };
  /// Sees each row of the space; returns false to end the walk.
  using Visit = std::function<bool(std::span<const double> point)>;
  enum class Walk { finished, ended, gave_up };

  [[nodiscard]] Located locate(std::size_t parameter, double coordinate) const;
  [[nodiscard]] bool discrete() const;
  [[nodiscard]] Walk walk(std::uint64_t max_branches, const Visit& visit) const;
  [[nodiscard]] bool draw(Rng& rng, Point& point) const;
  /// Nothing where some configuration satisfies the constraints; else why none does, as far as is
  /// known, and what to do.
  [[nodiscard]] std::optional<Error> why_unsatisfiable() const;
  [[nodiscard]] Result<void> check_values(const Configuration& configuration) const;

  std::vector<Parameter> parameters_;
  std::vector<std::string> constraint_texts_;
  std::vector<Column> columns_;
  std::shared_ptr<const SpaceRules> rules_;
};

}  // namespace steptune
