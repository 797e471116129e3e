// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/space/parameter.hpp"

namespace steptune {

/// A whole number from `low` to `high`.
inline Parameter counted(const char* name, double low, double high, Scale scale = Scale::linear) {
  Parameter parameter;
  parameter.name = name;
  parameter.low = low;
  parameter.high = high;
  parameter.scale = scale;
  return parameter;
}

}  // namespace steptune
