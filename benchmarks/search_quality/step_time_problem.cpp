// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/search_quality/step_time_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "benchmarks/search_quality/step_time_model.hpp"

namespace steptune::search_quality {
namespace {

constexpr std::uint64_t k_most_configurations = 200'000;

void tell(const StepTimeModel& model, std::uint64_t seed, Observation& observation) {
  const auto parts = model.parts_of(observation.configuration);
  if (!parts) {
    observation.kind = ObservationKind::out_of_memory;
    return;
  }
  observation.peak_memory_bytes = model.memory_bytes(observation.configuration);
  Rng rng(seed, "measurement", static_cast<std::uint64_t>(observation.trial));
  observation.values = {parts->seconds_per_sample() * std::exp(model.noise * rng.normal())};
  observation.standard_errors = {model.noise * observation.values[0]};
}

}  // namespace

Problem step_time_problem(std::uint64_t family_seed, std::uint64_t number) {
  const auto model =
      std::make_shared<const StepTimeModel>(draw_step_time_model(family_seed, number));
  Problem problem;
  problem.name = fmt::format("step_times_{}_{}", family_seed, number);
  problem.kind = "step_times";
  problem.space =
      std::make_shared<const SearchSpace>(*SearchSpace::create(model->parameters, {}, {}));
  problem.objectives = {ObjectiveTraits{true}};
  problem.objective_names = {"seconds_per_sample"};
  problem.maximised = {false};
  problem.evaluate = [model](const Configuration& configuration,
                             std::size_t) -> std::optional<std::vector<double>> {
    const auto parts = model->parts_of(configuration);
    if (!parts) return std::nullopt;
    return std::vector<double>{parts->seconds_per_sample()};
  };
  problem.tell = [model](std::uint64_t seed, Observation& observation) {
    tell(*model, seed, observation);
  };
  problem.optimum = std::numeric_limits<double>::infinity();
  const auto configurations = problem.space->enumerate(k_most_configurations);
  for (const Configuration& configuration : *configurations) {
    if (const auto values = problem.evaluate(configuration, 0)) {
      problem.optimum = std::min(problem.optimum, (*values)[0]);
    }
  }
  return problem;
}

}  // namespace steptune::search_quality
