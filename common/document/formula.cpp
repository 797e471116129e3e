// SPDX-License-Identifier: Apache-2.0
#include "common/document/formula.hpp"

#include <cmath>
#include <utility>

namespace steptune::document {

Formula Formula::constant(double value, std::string text) {
  return {std::move(text), [value](const Configuration&) { return value; }};
}

bool Formula::holds(const Configuration& configuration) const {
  const double value = evaluate(configuration);
  return value != 0.0 && !std::isnan(value);
}

}  // namespace steptune::document
