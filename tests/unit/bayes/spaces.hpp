// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "search/space/search_space.hpp"

namespace steptune::testing_spaces {

inline SearchSpace create(std::vector<Parameter> parameters,
                          const std::vector<std::string>& constraints = {}) {
  auto space = SearchSpace::create(std::move(parameters), constraints, {});
  if (!space) throw std::invalid_argument(space.error().text());
  return *std::move(space);
}

inline Parameter integer(const std::string& name, double low, double high) {
  Parameter parameter;
  parameter.name = name;
  parameter.kind = ParameterKind::integer;
  parameter.low = low;
  parameter.high = high;
  return parameter;
}

inline Parameter real(const std::string& name, double low, double high,
                      Scale scale = Scale::linear) {
  Parameter parameter = integer(name, low, high);
  parameter.kind = ParameterKind::floating;
  parameter.scale = scale;
  return parameter;
}

inline Parameter choice(const std::string& name, const std::vector<std::string>& choices) {
  Parameter parameter;
  parameter.name = name;
  parameter.kind = ParameterKind::categorical;
  for (const auto& text : choices)
    parameter.choices.emplace_back(text);
  return parameter;
}

/// Returns a trainer's usual options, one of them conditional, with a constraint.
inline SearchSpace mixed_space() {
  Parameter batch = integer("batch", 16, 512);
  batch.scale = Scale::log2;
  Parameter prefetch = integer("prefetch", 1, 8);
  prefetch.when = "workers > 0";
  return create({batch, integer("workers", 0, 8), prefetch,
                 choice("precision", {"fp32", "bf16", "tf32"}), integer("threads", 1, 8)},
                {"workers + threads <= 12"});
}

/// Returns batch sizes with a declared memory effect, and another parameter.
inline SearchSpace batch_space() {
  Parameter batch = integer("batch", 1, 512);
  batch.scale = Scale::log2;
  batch.memory = MemoryEffect::increases;
  return create({batch, integer("workers", 0, 7)});
}

}  // namespace steptune::testing_spaces
