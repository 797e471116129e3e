// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "search/space/search_space.hpp"

namespace steptune::testing {

inline Parameter integer(std::string name, double low, double high, Scale scale = Scale::linear) {
  Parameter parameter;
  parameter.name = std::move(name);
  parameter.kind = ParameterKind::integer;
  parameter.low = low;
  parameter.high = high;
  parameter.scale = scale;
  return parameter;
}

inline Parameter floating(std::string name, double low, double high, Scale scale = Scale::linear) {
  Parameter parameter = integer(std::move(name), low, high, scale);
  parameter.kind = ParameterKind::floating;
  return parameter;
}

inline Parameter stepped(Parameter parameter, double step) {
  parameter.step = step;
  return parameter;
}

inline Parameter categorical(std::string name, std::vector<Value> choices,
                             ParameterKind kind = ParameterKind::categorical) {
  Parameter parameter;
  parameter.name = std::move(name);
  parameter.kind = kind;
  parameter.choices = std::move(choices);
  return parameter;
}

inline Parameter boolean(std::string name) {
  Parameter parameter;
  parameter.name = std::move(name);
  parameter.kind = ParameterKind::boolean;
  return parameter;
}

inline Parameter when(Parameter parameter, std::string condition) {
  parameter.when = std::move(condition);
  return parameter;
}

inline Value text(const char* value) {
  return Value{std::string(value)};
}
inline Value whole(std::int64_t value) {
  return Value{value};
}

inline SearchSpace space_of(std::vector<Parameter> parameters,
                            const std::vector<std::string>& constraints = {},
                            const Facts& facts = {}) {
  auto space = SearchSpace::create(std::move(parameters), constraints, facts);
  EXPECT_TRUE(space) << space.error().text();
  return *std::move(space);
}

/// Returns batch size, workers with a conditional prefetch, precision and threads, as users declare
/// them.
inline SearchSpace loader_space() {
  return space_of(
      {integer("batch_size", 16, 512, Scale::log2), integer("workers", 0, 4),
       when(integer("prefetch", 1, 8), "workers > 0"),
       categorical("precision", {text("fp32"), text("bf16")}), integer("threads", 1, 4)},
      {"workers + threads <= 2 * cpus", "not (precision == 'bf16' and threads > 3)"},
      {{"cpus", 2.0}});
}

}  // namespace steptune::testing
