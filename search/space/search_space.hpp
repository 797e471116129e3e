// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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

/// Typed parameters with conditions and constraints. Immutable; every method but `create` may be
/// called from several threads at once.
class SearchSpace {
 public:
  /// Errors name the parameter or constraint at fault. A condition may mention only parameters
  /// declared before its own.
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
  /// or a constraint that does not hold.
  [[nodiscard]] Result<void> check(const Configuration& configuration) const;
  [[nodiscard]] bool contains(const Configuration& configuration) const {
    return check(configuration).has_value();
  }

  [[nodiscard]] Point encode(const Configuration& configuration) const;
  /// Snaps every coordinate to the nearest value and removes parameters whose condition does not
  /// hold. A coordinate of an active parameter that is `k_inactive` counts as 0. The result may
  /// violate constraints: see `check`.
  [[nodiscard]] Configuration decode(const Point& point) const;

  /// A configuration drawn uniformly by parameter among those that satisfy the constraints; nothing
  /// if `attempts` draws found none.
  [[nodiscard]] std::optional<Configuration> sample(Rng& rng, int attempts = 10'000) const;

  /// Every configuration of the space, in order of declaration (last parameter fastest), each once;
  /// nothing if `product_size` is unknown or above `limit`.
  [[nodiscard]] std::optional<std::vector<Configuration>> enumerate(std::uint64_t limit) const;

  /// Configurations that differ from this one in one parameter (and what that activates or
  /// deactivates) and are in the space: every other choice of unordered parameters; for ordered ones
  /// every level if there are few, else the adjacent ones and some farther off.
  [[nodiscard]] std::vector<Configuration> neighbours(const Configuration& configuration) const;

 private:
  SearchSpace() = default;

  std::vector<Parameter> parameters_;
  std::vector<std::string> constraint_texts_;
};

}  // namespace steptune
