// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "search/space/parameter.hpp"

namespace steptune {
namespace {

/// Most levels of a range. Their numbers are then exact as doubles.
constexpr double k_max_levels = 0x1p40;

std::string quoted(const Value& value) {
  return std::holds_alternative<std::string>(value) ? '"' + to_text(value) + '"' : to_text(value);
}

tl::unexpected<Error> fault(std::string message, std::string pointer, std::string hint = {}) {
  return fail(ErrorKind::usage, std::move(message), std::move(pointer), std::move(hint));
}

Result<void> check_choices(const Parameter& parameter) {
  if (parameter.choices.empty()) return fault("no choices", "/choices");
  if (parameter.choices.size() > k_max_choices) {
    return fault(
        fmt::format("{} choices are more than {}", parameter.choices.size(), k_max_choices),
        "/choices");
  }
  for (std::size_t i = 0; i < parameter.choices.size(); ++i) {
    const Value& choice = parameter.choices[i];
    const auto* number = std::get_if<double>(&choice);
    if (number != nullptr && !std::isfinite(*number)) {
      return fault("a choice is not a finite number", fmt::format("/choices/{}", i));
    }
    if (*parameter.level_of(choice) != i) {
      return fault(fmt::format("the choice {} is repeated", quoted(choice)),
                   fmt::format("/choices/{}", i));
    }
  }
  return {};
}

Result<void> check_step(const Parameter& parameter) {
  if (!parameter.step) return {};
  const double step = *parameter.step;
  if (parameter.scale != Scale::linear) {
    return fault("a step needs a linear scale", "/step", "remove \"step\" or \"scale\"");
  }
  if (!(step > 0.0) || !std::isfinite(step)) {
    return fault(fmt::format("the step {} is not a positive number", step), "/step");
  }
  if (parameter.kind == ParameterKind::integer && step != std::floor(step)) {
    return fault(fmt::format("the step {} of an integer has a fraction", step), "/step");
  }
  if ((parameter.high - parameter.low) / step > k_max_levels) {
    return fault(fmt::format("the step {} is too small for the range", step), "/step",
                 "give a larger one");
  }
  return {};
}

Result<void> check_range(const Parameter& parameter) {
  const double low = parameter.low;
  const double high = parameter.high;
  if (!std::isfinite(low)) return fault("not a finite number", "/low");
  if (!std::isfinite(high) || !std::isfinite(high - low)) {
    return fault("not a finite number", "/high");
  }
  if (low > high) {
    return fault(fmt::format("the range is empty: low {} is above high {}", low, high), "/low");
  }
  const bool counts_from_zero =
      low == 0.0 && parameter.kind == ParameterKind::integer && parameter.scale == Scale::log;
  if (parameter.scale != Scale::linear && low <= 0.0 && !counts_from_zero) {
    return fault(fmt::format("a log scale needs a positive low, not {}", low), "/low");
  }
  if (parameter.scale != Scale::linear && low > 0.0 && !std::isfinite(high / low)) {
    return fault("the range is too large for a log scale", "/high");
  }
  if (parameter.kind == ParameterKind::integer) {
    if (low != std::floor(low) || std::abs(low) > k_max_whole) {
      return fault(fmt::format("{} is not a whole number", low), "/low");
    }
    if (high != std::floor(high) || std::abs(high) > k_max_whole) {
      return fault(fmt::format("{} is not a whole number", high), "/high");
    }
    if (parameter.scale == Scale::log2 && std::ceil(std::log2(low)) > std::floor(std::log2(high))) {
      return fault(fmt::format("no power of two lies in {} to {}", low, high), "/low");
    }
    const bool every_number = !parameter.step && parameter.scale != Scale::log2;
    if (every_number && high - low > k_max_levels) {
      return fault("the range is too large", "/high", "give a \"step\", or use type \"float\"");
    }
  }
  return check_step(parameter);
}

}  // namespace

Result<void> Parameter::check() const {
  if (name.empty()) return fault("the name is empty", "");
  if (kind == ParameterKind::boolean) return {};
  return has_choices() ? check_choices(*this) : check_range(*this);
}

std::string Parameter::range_text() const {
  if (kind == ParameterKind::boolean) return "true or false";
  if (has_choices()) {
    const std::size_t shown = std::min<std::size_t>(choices.size(), 12);
    std::string text;
    for (std::size_t i = 0; i < shown; ++i) {
      if (i > 0) text += i + 1 == choices.size() ? " or " : ", ";
      text += quoted(choices[i]);
    }
    if (choices.size() > shown) text += fmt::format(" or {} more", choices.size() - shown);
    return text;
  }
  std::string text = fmt::format("{} to {}", low, high);
  if (step) text += fmt::format(" in steps of {}", *step);
  if (kind == ParameterKind::integer) {
    text += scale == Scale::log2 ? ", powers of two" : ", whole numbers";
  }
  return text;
}

}  // namespace steptune
