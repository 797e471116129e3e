// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/configuration.hpp"
#include "common/error.hpp"
#include "search/space/expression.hpp"

namespace steptune {

/// Most choices of a parameter, to bound memory.
inline constexpr std::size_t k_max_choices = 10'000;

enum class ParameterKind { integer, floating, boolean, categorical, ordinal };
enum class Scale { linear, log, log2 };
/// Effect of a larger value on the memory that a trial needs, as declared by the user.
enum class MemoryEffect { increases, decreases };

/// One dimension of a search space. The functions below require a definition that passes `check`.
struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::integer;
  double low = 0.0;            ///< smallest value of an integer or floating parameter
  double high = 0.0;           ///< largest value of an integer or floating parameter
  std::optional<double> step;  ///< distance between neighbouring values, for a linear scale
  /// With log2, an integer has only the powers of two in [low, high]. With log, an integer may
  /// start at 0.
  Scale scale = Scale::linear;
  std::vector<Value> choices;       ///< categorical: without order; ordinal: in their order
  std::optional<std::string> when;  ///< the parameter is active if this expression is true
  std::optional<MemoryEffect> memory;

  /// Returns the number of values; nullopt for a floating parameter without step (unless low ==
  /// high).
  [[nodiscard]] std::optional<std::uint64_t> level_count() const;
  /// Returns the value at `level`, 0 <= level < level_count().
  [[nodiscard]] Value level(std::uint64_t level) const;
  /// Returns the level of a value; nullopt if the parameter does not have it or has no levels.
  /// Floating parameters accept whole numbers; integers accept floating-point numbers without
  /// fraction.
  [[nodiscard]] std::optional<std::uint64_t> level_of(const Value& value) const;

  /// True if the values are listed: categorical and ordinal.
  [[nodiscard]] bool has_choices() const {
    return kind == ParameterKind::categorical || kind == ParameterKind::ordinal;
  }
  /// True if the values have no order: categorical and boolean.
  [[nodiscard]] bool unordered() const {
    return kind == ParameterKind::categorical || kind == ParameterKind::boolean;
  }
  /// Returns a value's position on the parameter's scale, in [0, 1]; 0 if the parameter has a
  /// single value. For unordered parameters, returns the index of the choice. NaN for a value that
  /// the parameter does not have.
  [[nodiscard]] double position_of(const Value& value) const;
  /// Returns the value whose position is nearest; for unordered parameters the choice with that
  /// index. For floating parameters without step, rounds to about a millionth of the range (linear
  /// scale) or of the value (log scale). Command lines then stay short.
  [[nodiscard]] Value at_position(double position) const;
  /// Returns the value at a quantile in [0, 1). If quantiles are uniform, all levels are equally
  /// likely; on log scales, equal ratios are equally likely.
  [[nodiscard]] Value at_quantile(double quantile) const;

  /// Returns the values in words, for messages: `16 to 512, powers of two`, `"fp32" or "bf16"`.
  [[nodiscard]] std::string range_text() const;

  /// Checks the definition itself (empty range, step on a log scale, repeated choice).
  /// `Error::where` is a JSON pointer below the parameter: `/low`, `/choices/2`.
  [[nodiscard]] Result<void> check() const;
};

}  // namespace steptune
