// SPDX-License-Identifier: Apache-2.0
#include "search/space/parameter.hpp"

#include <algorithm>
#include <cmath>

#include "common/numbers.hpp"

namespace steptune {
namespace {

/// Rounds to `decimals` places after the decimal point (negative: before it). The result is a whole
/// number divided by an exact power of ten. This is the double nearest to the decimal number, so
/// its text is short.
double round_decimals(double number, int decimals) {
  if (decimals > 22 || decimals < -22) return number;
  const double scale = std::pow(10.0, std::abs(decimals));
  const double scaled = decimals >= 0 ? number * scale : number / scale;
  if (std::abs(scaled) >= k_max_whole) return number;
  return decimals >= 0 ? std::round(scaled) / scale : std::round(scaled) * scale;
}

int decimals_for(double magnitude, int digits) {
  return digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(magnitude))));
}

/// Removes binary rounding errors: -0.3 plus three steps of 0.1 gives 5.6e-17 and should be 0.
double tidy_step_value(double number, double step) {
  if (std::abs(number) < 1e-9 * step) return 0.0;
  return round_decimals(number, decimals_for(number, 12));
}

/// True if a user would call the values equal: 1 and 1.0 are the same choice, 1 and true are not.
bool same_value(const Value& a, const Value& b) {
  if (a == b) return true;
  const auto mixed = [](const Value& one, const Value& other) {
    return std::holds_alternative<std::int64_t>(one) && std::holds_alternative<double>(other);
  };
  return (mixed(a, b) || mixed(b, a)) && to_number(a) == to_number(b);
}

std::optional<double> number_in(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

bool powers_of_two(const Parameter& parameter) {
  return parameter.kind == ParameterKind::integer && parameter.scale == Scale::log2;
}

double first_exponent(const Parameter& parameter) {
  return std::ceil(std::log2(parameter.low));
}

/// True for integers on a log scale: all whole numbers in the range, at logarithmic positions.
bool uneven(const Parameter& parameter) {
  return parameter.kind == ParameterKind::integer && parameter.scale == Scale::log;
}

/// Returns the number to add before taking the logarithm. Integers from 0 to high have the
/// positions of 1 to high + 1.
double log_offset(const Parameter& parameter) {
  return parameter.low == 0.0 ? 1.0 : 0.0;
}

double log_position(const Parameter& parameter, double number) {
  const double offset = log_offset(parameter);
  const double low = parameter.low + offset;
  return std::log((number + offset) / low) / std::log((parameter.high + offset) / low);
}

double log_at(const Parameter& parameter, double position) {
  const double offset = log_offset(parameter);
  const double low = parameter.low + offset;
  return low * std::pow((parameter.high + offset) / low, position) - offset;
}

double continuous_at(const Parameter& parameter, double position) {
  if (position == 0.0) return parameter.low;
  if (position == 1.0) return parameter.high;
  const bool linear = parameter.scale == Scale::linear;
  const double range = parameter.high - parameter.low;
  const double exact = linear ? parameter.low + position * range : log_at(parameter, position);
  const double rounded = round_decimals(exact, decimals_for(linear ? range : exact, 7));
  return std::clamp(rounded, parameter.low, parameter.high);
}

std::uint64_t nearest_uneven_level(const Parameter& parameter, double position) {
  const double below =
      std::clamp(std::floor(log_at(parameter, position) + 1e-9), parameter.low, parameter.high);
  const double above = std::min(below + 1.0, parameter.high);
  const bool up =
      log_position(parameter, above) - position < position - log_position(parameter, below);
  return static_cast<std::uint64_t>((up ? above : below) - parameter.low);
}

std::uint64_t clamped_level(double level, std::uint64_t count) {
  if (!(level > 0.0)) return 0;
  return std::min(static_cast<std::uint64_t>(std::min(level, k_max_whole)), count - 1);
}

double clamped_unit(double position) {
  return position > 0.0 ? std::min(position, 1.0) : 0.0;
}

}  // namespace

std::optional<std::uint64_t> Parameter::level_count() const {
  if (kind == ParameterKind::boolean) return 2;
  if (has_choices()) return choices.size();
  if (kind == ParameterKind::floating && !step) {
    return low == high ? std::optional<std::uint64_t>(1) : std::nullopt;
  }
  if (powers_of_two(*this)) {
    return static_cast<std::uint64_t>(std::floor(std::log2(high)) - first_exponent(*this)) + 1;
  }
  // The tolerance keeps 0.3 as the last value of 0, 0.1, 0.2, 0.3.
  return static_cast<std::uint64_t>(std::floor((high - low) / step.value_or(1.0) + 1e-9)) + 1;
}

Value Parameter::level(std::uint64_t level) const {
  if (kind == ParameterKind::boolean) return Value{level != 0};
  if (has_choices()) return choices[static_cast<std::size_t>(level)];
  const auto index = static_cast<double>(level);
  if (powers_of_two(*this)) {
    return Value{static_cast<std::int64_t>(std::exp2(first_exponent(*this) + index))};
  }
  const double number = low + index * step.value_or(1.0);
  if (kind == ParameterKind::integer) return Value{static_cast<std::int64_t>(number)};
  return Value{step && level > 0 ? tidy_step_value(number, *step) : low};
}

std::optional<std::uint64_t> Parameter::level_of(const Value& value) const {
  if (kind == ParameterKind::boolean) {
    const auto* flag = std::get_if<bool>(&value);
    return flag ? std::optional<std::uint64_t>(*flag ? 1 : 0) : std::nullopt;
  }
  if (has_choices()) {
    const auto found = std::ranges::find_if(
        choices, [&](const Value& choice) { return same_value(choice, value); });
    if (found == choices.end()) return std::nullopt;
    return static_cast<std::uint64_t>(found - choices.begin());
  }
  const auto count = level_count();
  const auto number = number_in(value);
  if (!count || !number || !std::isfinite(*number)) return std::nullopt;
  const double distance = powers_of_two(*this)
                              ? (*number > 0 ? std::log2(*number) : -1e9) - first_exponent(*this)
                              : (*number - low) / step.value_or(1.0);
  const double nearest = std::round(distance);
  if (nearest < 0.0 || nearest >= static_cast<double>(*count)) return std::nullopt;
  const bool exact = kind == ParameterKind::integer;
  const auto index = static_cast<std::uint64_t>(nearest);
  if (exact ? to_number(level(index)) != *number : std::abs(distance - nearest) > 1e-6) {
    return std::nullopt;
  }
  return index;
}

double Parameter::position_of(const Value& value) const {
  const auto count = level_count();
  if (!count) {
    const auto number = number_in(value);
    if (!number || !(*number >= low && *number <= high)) return k_nan;
    return scale == Scale::linear ? (*number - low) / (high - low) : log_position(*this, *number);
  }
  const auto index = level_of(value);
  if (!index) return k_nan;
  if (unordered()) return static_cast<double>(*index);
  if (*count == 1) return 0.0;
  if (uneven(*this)) return log_position(*this, low + static_cast<double>(*index));
  return static_cast<double>(*index) / static_cast<double>(*count - 1);
}

Value Parameter::at_position(double position) const {
  const auto count = level_count();
  if (!count) return Value{continuous_at(*this, clamped_unit(position))};
  if (unordered()) return level(clamped_level(std::round(position), *count));
  if (uneven(*this) && *count > 1) {
    return level(nearest_uneven_level(*this, clamped_unit(position)));
  }
  return level(clamped_level(std::round(position * static_cast<double>(*count - 1)), *count));
}

Value Parameter::at_quantile(double quantile) const {
  const auto count = level_count();
  if (!count) return Value{continuous_at(*this, clamped_unit(quantile))};
  if (uneven(*this) && *count > 1) {
    // Draws between n - 0.5 and n + 0.5, uniform on the log scale, give the whole number n.
    const double offset = log_offset(*this);
    const double lowest = low + offset - 0.5;
    const double highest = high + offset + 0.5;
    const double draw = lowest * std::pow(highest / lowest, clamped_unit(quantile)) - offset;
    return level(clamped_level(std::round(draw) - low, *count));
  }
  return level(clamped_level(std::floor(quantile * static_cast<double>(*count)), *count));
}

}  // namespace steptune
