// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/unit/search/spaces.hpp"

namespace steptune::testing {

/// Returns a random parameter of any kind and scale.
inline Parameter random_parameter(Rng& rng, const std::string& name) {
  const double low = static_cast<double>(1 + rng.below(6));
  const double high = low + static_cast<double>(rng.below(40));
  switch (rng.below(8)) {
    case 0:
      return boolean(name);
    case 1:
      return categorical(name, {text("a"), text("b"), text("c")});
    case 2:
      return categorical(name, {whole(1), whole(4), Value{9.5}, text("auto")});
    case 3:
      return categorical(name, {whole(2), whole(3), whole(8)}, ParameterKind::ordinal);
    case 4:
      return integer(name, low, high, rng.below(2) == 0 ? Scale::log : Scale::linear);
    case 5:
      return integer(name, low, 16 * low, Scale::log2);
    case 6:
      return stepped(floating(name, low, high + 0.5), 0.25);
    default:
      return floating(name, low, high + 1.0, rng.below(2) == 0 ? Scale::log : Scale::linear);
  }
}

/// Returns a random space of one to six parameters, mostly with conditions and constraints.
inline SearchSpace random_space(std::uint64_t seed) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    Rng rng(seed, "random space", attempt);
    std::vector<Parameter> parameters;
    std::vector<std::string> numeric;
    std::vector<std::string> constraints;
    const std::uint64_t count = 1 + rng.below(6);
    for (std::uint64_t i = 0; i < count; ++i) {
      Parameter parameter = random_parameter(rng, "p" + std::to_string(i));
      if (!numeric.empty() && rng.below(3) == 0) {
        parameter.when = numeric[rng.below(numeric.size())] + " > 2";
      }
      const bool has_texts = parameter.kind == ParameterKind::categorical;
      if (!has_texts) numeric.push_back(parameter.name);
      parameters.push_back(std::move(parameter));
    }
    if (numeric.size() > 1 && rng.below(2) == 0) {
      constraints.push_back(numeric.front() + " + " + numeric.back() + " < 20");
    }
    auto space = SearchSpace::create(std::move(parameters), constraints, {});
    if (space) return *std::move(space);
  }
}

}  // namespace steptune::testing
