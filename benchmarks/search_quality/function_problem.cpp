// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/search_quality/function_problem.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "common/median.hpp"
#include "common/text.hpp"

namespace steptune::search_quality {
namespace {

using std::numbers::pi;
using Values = std::vector<double>;

double branin(double x, double y) {
  const double a = y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6;
  return a * a + 10 * (1 - 1 / (8 * pi)) * std::cos(x) + 10;
}

double currin(double x, double y) {
  const double factor = y > 0 ? 1 - std::exp(-1 / (2 * y)) : 1.0;
  return factor * (2300 * x * x * x + 1900 * x * x + 2092 * x + 60) /
         (100 * x * x * x + 500 * x * x + 4 * x + 20);
}

double hartmann6(const Values& x) {
  constexpr std::array<double, 4> k_alpha = {1.0, 1.2, 3.0, 3.2};
  constexpr double k_a[4][6] = {{10, 3, 17, 3.5, 1.7, 8},
                                {0.05, 10, 17, 0.1, 8, 14},
                                {3, 3.5, 1.7, 10, 17, 8},
                                {17, 8, 0.05, 10, 0.1, 14}};
  constexpr double k_p[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                                {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                                {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                                {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
  double sum = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    double exponent = 0.0;
    for (std::size_t j = 0; j < 6; ++j) {
      exponent += k_a[i][j] * (x[j] - k_p[i][j]) * (x[j] - k_p[i][j]);
    }
    sum += k_alpha[i] * std::exp(-exponent);
  }
  return -sum;
}

double ackley(const Values& z) {
  double squares = 0.0;
  double cosines = 0.0;
  for (const double coordinate : z) {
    squares += coordinate * coordinate;
    cosines += std::cos(2 * pi * coordinate);
  }
  const auto n = static_cast<double>(z.size());
  return -20 * std::exp(-0.2 * std::sqrt(squares / n)) - std::exp(cosines / n) + 20 +
         std::numbers::e;
}

Parameter range(std::string name, ParameterKind kind, double low, double high,
                std::optional<double> step = std::nullopt) {
  Parameter parameter;
  parameter.name = std::move(name);
  parameter.kind = kind;
  parameter.low = low;
  parameter.high = high;
  parameter.step = step;
  return parameter;
}

Parameter scrambled(std::string name) {
  Parameter parameter;
  parameter.name = std::move(name);
  parameter.kind = ParameterKind::categorical;
  for (const char* choice : {"a", "b", "c", "d", "e"}) {
    parameter.choices.emplace_back(std::string(choice));
  }
  return parameter;
}

std::vector<Parameter> floats(int count, double low, double high) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < count; ++i) {
    parameters.push_back(range(fmt::format("x{}", i), ParameterKind::floating, low, high));
  }
  return parameters;
}

Values numbers_of(const SearchSpace& space, const Configuration& configuration) {
  Values numbers;
  for (const Parameter& parameter : space.parameters()) {
    numbers.push_back(to_number(*configuration.find(parameter.name)));
  }
  return numbers;
}

/// Returns the coordinates of Ackley's function: integers minus 2, floats minus 1.3, and a
/// scrambled coordinate for each choice.
Values ackley_coordinates(const SearchSpace& space, const Configuration& configuration) {
  constexpr std::array<double, 5> k_scrambled = {2.0, -4.0, 0.0, 4.0, -2.0};
  Values z;
  for (const Parameter& parameter : space.parameters()) {
    const Value& value = *configuration.find(parameter.name);
    if (parameter.kind == ParameterKind::categorical) {
      z.push_back(k_scrambled[*parameter.level_of(value)]);
    } else {
      z.push_back(to_number(value) - (parameter.kind == ParameterKind::integer ? 2.0 : 1.3));
    }
  }
  return z;
}

using Function = std::function<Values(const SearchSpace&, const Configuration&)>;

Problem problem_of(std::string name, std::vector<Parameter> parameters, const Function& function) {
  Problem problem;
  problem.name = std::move(name);
  problem.kind = "function";
  problem.space =
      std::make_shared<const SearchSpace>(*SearchSpace::create(std::move(parameters), {}, {}));
  problem.evaluate = [space = problem.space, function](const Configuration& configuration,
                                                       std::size_t) {
    return std::optional<Values>(function(*space, configuration));
  };
  return problem;
}

Problem single(Problem problem, double optimum) {
  constexpr int k_draws = 2001;
  problem.objectives = {ObjectiveTraits{false}};
  problem.objective_names = {"f"};
  problem.maximised = {false};
  problem.optimum = optimum;
  problem.relative_to_optimum = false;
  Rng rng(0, "typical value");
  Values values;
  for (int i = 0; i < k_draws; ++i) {
    values.push_back((*problem.evaluate(*problem.space->sample(rng), 0))[0]);
  }
  problem.typical = *median(std::move(values));
  return problem;
}

Problem twofold(Problem problem, Values reference, double max_volume) {
  problem.objectives = {ObjectiveTraits{false}, ObjectiveTraits{false}};
  problem.objective_names = {"f1", "f2"};
  problem.maximised = {false, false};
  problem.reference = std::move(reference);
  problem.max_volume = max_volume;
  return problem;
}

Values zdt1(const Values& x) {
  double rest = 0.0;
  for (std::size_t i = 1; i < x.size(); ++i)
    rest += x[i];
  const double g = 1 + 9 * rest / static_cast<double>(x.size() - 1);
  return {x[0], g * (1 - std::sqrt(x[0] / g))};
}

Problem zdt1_problem() {
  std::vector<Parameter> parameters;
  for (int i = 0; i < 6; ++i) {
    parameters.push_back(range(fmt::format("x{}", i), ParameterKind::floating, 0.0, 1.0, 0.1));
  }
  const Values reference = {1.1, 6.0};
  std::vector<Values> front;
  for (int i = 0; i <= 10; ++i)
    front.push_back(zdt1({i / 10.0, 0, 0, 0, 0, 0}));
  const double max_volume = hypervolume(front, reference);
  return twofold(problem_of("zdt1_d6", std::move(parameters),
                            [](const SearchSpace& space, const Configuration& configuration) {
                              return zdt1(numbers_of(space, configuration));
                            }),
                 reference, max_volume);
}

Problem ackley_problem() {
  std::vector<Parameter> parameters;
  for (const char* name : {"i0", "i1", "i2"}) {
    parameters.push_back(range(name, ParameterKind::integer, -5, 5));
  }
  for (const char* name : {"c0", "c1"})
    parameters.push_back(scrambled(name));
  for (const char* name : {"x0", "x1", "x2"}) {
    parameters.push_back(range(name, ParameterKind::floating, -5, 5));
  }
  return single(problem_of("ackley_mixed8", std::move(parameters),
                           [](const SearchSpace& space, const Configuration& configuration) {
                             return Values{ackley(ackley_coordinates(space, configuration))};
                           }),
                0.0);
}

}  // namespace

const std::vector<std::string>& function_names() {
  static const std::vector<std::string> k_names = {"branin", "hartmann6", "ackley_mixed8",
                                                   "zdt1_d6", "branin_currin"};
  return k_names;
}

Result<Problem> function_problem(const std::string& name) {
  if (name == "branin") {
    return single(problem_of(name,
                             {range("x0", ParameterKind::floating, -5, 10),
                              range("x1", ParameterKind::floating, 0, 15)},
                             [](const SearchSpace& space, const Configuration& configuration) {
                               const Values x = numbers_of(space, configuration);
                               return Values{branin(x[0], x[1])};
                             }),
                  0.39788735772973816);
  }
  if (name == "hartmann6") {
    return single(problem_of(name, floats(6, 0, 1),
                             [](const SearchSpace& space, const Configuration& configuration) {
                               return Values{hartmann6(numbers_of(space, configuration))};
                             }),
                  -3.3223680114155152);
  }
  if (name == "ackley_mixed8") return ackley_problem();
  if (name == "zdt1_d6") return zdt1_problem();
  if (name == "branin_currin") {
    return twofold(problem_of(name, floats(2, 0, 1),
                              [](const SearchSpace& space, const Configuration& configuration) {
                                const Values x = numbers_of(space, configuration);
                                return Values{branin(15 * x[0] - 5, 15 * x[1]), currin(x[0], x[1])};
                              }),
                   {18.0, 6.0}, 59.36011874867746);
  }
  return fail(ErrorKind::usage,
              fmt::format("there is no function \"{}\"{}", printable_line(name, 60),
                          did_you_mean(name, function_names())),
              {}, fmt::format("functions: {}", fmt::join(function_names(), ", ")));
}

}  // namespace steptune::search_quality
