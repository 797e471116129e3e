// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "search/space/parameter.hpp"

namespace steptune {

/// Returns a whole-number parameter from `low` to `high`.
inline Parameter counted(const char* name, double low, double high, Scale scale = Scale::linear) {
  Parameter parameter;
  parameter.name = name;
  parameter.low = low;
  parameter.high = high;
  parameter.scale = scale;
  return parameter;
}

/// Returns a parameter with unordered `choices`.
inline Parameter chosen(const char* name, std::vector<Value> choices) {
  Parameter parameter;
  parameter.name = name;
  parameter.kind = ParameterKind::categorical;
  parameter.choices = std::move(choices);
  return parameter;
}

}  // namespace steptune
