// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/configuration.hpp"
#include "common/error.hpp"
#include "search/space/expression.hpp"

namespace steptune {

enum class ParameterKind { integer, floating, boolean, categorical, ordinal };
enum class Scale { linear, log, log2 };
/// What raising the parameter does to the memory that a trial needs, as the user declares it.
enum class MemoryEffect { unknown, increases, decreases };

/// One dimension of a search space. The functions below expect a definition that passes `check`.
struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::integer;
  double low = 0.0;            ///< integer, floating: smallest value
  double high = 0.0;           ///< integer, floating: largest value
  std::optional<double> step;  ///< integer, floating with a linear scale: distance of the values
  /// log2 on an integer: the powers of two in [low, high]. log on an integer may begin at 0.
  Scale scale = Scale::linear;
  std::vector<Value> choices;       ///< categorical: in no order; ordinal: in theirs
  std::optional<std::string> when;  ///< the parameter is active where this expression holds
  MemoryEffect memory = MemoryEffect::unknown;

  /// Number of values, or nothing for a floating parameter without step (unless low == high).
  [[nodiscard]] std::optional<std::uint64_t> level_count() const;
  /// The value at `level`, 0 <= level < level_count().
  [[nodiscard]] Value level(std::uint64_t level) const;
  /// The level of a value; nothing if it is not one of the parameter's values. Whole numbers are
  /// taken for floating parameters and floating-point numbers without fraction for integers.
  [[nodiscard]] std::optional<std::uint64_t> level_of(const Value& value) const;

  /// True for parameters whose values have no order: categorical and boolean.
  [[nodiscard]] bool unordered() const {
    return kind == ParameterKind::categorical || kind == ParameterKind::boolean;
  }
  /// Position of a value on the parameter's scale, in [0, 1] (0 for a single value); for unordered
  /// parameters the index of the choice. NaN for a value that the parameter does not have.
  [[nodiscard]] double position_of(const Value& value) const;
  /// The value whose position is nearest; for unordered parameters the choice of that index. Values
  /// of floating parameters without step are rounded to about a millionth of the range (linear) or
  /// of themselves (log), so that they stay short on command lines.
  [[nodiscard]] Value at_position(double position) const;
  /// The value at a quantile in [0, 1): uniform quantiles give each level the same chance, on log
  /// scales each factor the same chance.
  [[nodiscard]] Value at_quantile(double quantile) const;

  /// The values in words, for messages: `16 to 512, powers of two`, `"fp32" or "bf16"`.
  [[nodiscard]] std::string range_text() const;

  /// Fault in the definition itself (empty range, step on a log scale, repeated choice), if any.
  /// `Error::where` is a JSON pointer below the parameter: `/low`, `/choices/2`.
  [[nodiscard]] Result<void> check() const;
};

}  // namespace steptune
