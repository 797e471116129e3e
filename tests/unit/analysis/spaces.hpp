// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/rng.hpp"
#include "search/space/search_space.hpp"
#include "tests/support/must.hpp"
#include "tuner/analysis/trial_samples.hpp"

namespace steptune {

inline Parameter real_parameter(const std::string& name, double low, double high) {
  Parameter parameter;
  parameter.name = name;
  parameter.kind = ParameterKind::floating;
  parameter.low = low;
  parameter.high = high;
  return parameter;
}

inline Parameter whole_parameter(const std::string& name, double low, double high) {
  Parameter parameter = real_parameter(name, low, high);
  parameter.kind = ParameterKind::integer;
  return parameter;
}

inline Parameter text_parameter(const std::string& name, std::vector<Value> choices) {
  Parameter parameter;
  parameter.name = name;
  parameter.kind = ParameterKind::categorical;
  parameter.choices = std::move(choices);
  return parameter;
}

inline SearchSpace space_of(std::vector<Parameter> parameters,
                            const std::vector<std::string>& constraints = {}) {
  return must(SearchSpace::create(std::move(parameters), constraints, {}));
}

inline double number_in(const Configuration& configuration, const char* name) {
  const Value* value = configuration.find(name);
  return value == nullptr ? 0.0 : to_number(*value);
}

inline bool is_text(const Configuration& configuration, const char* name, const char* text) {
  const Value* value = configuration.find(name);
  return value != nullptr && *value == Value{std::string(text)};
}

using Function = std::function<double(const Configuration&)>;

/// Returns `count` random trials, whose values have normal errors of this size.
inline std::vector<EffectSample> drawn_samples(const SearchSpace& space, std::size_t count,
                                               const Function& function, double error = 0.0,
                                               std::uint64_t seed = 1) {
  Rng rng(seed, "samples");
  std::vector<EffectSample> samples;
  while (samples.size() < count) {
    const auto configuration = space.sample(rng);
    if (!configuration) continue;
    samples.push_back(
        {space.encode(*configuration), function(*configuration) + error * rng.normal(), error});
  }
  return samples;
}

}  // namespace steptune
