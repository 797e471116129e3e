// SPDX-License-Identifier: Apache-2.0
#include "tuner/knobs/first_guesses.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "common/numbers.hpp"
#include "search/searchers/visited.hpp"
#include "trial_runner/measure/half_widths.hpp"
#include "tuner/knobs/draft_defaults.hpp"

namespace steptune {
namespace {

/// Quantile of the normal distribution for a one-sided 95 % interval.
constexpr double k_z_gain = 1.645;
/// Number of workers that is tried first on a machine with many CPUs: half of torchvision's
/// default, twice timm's default.
constexpr double k_usual_workers = 8.0;
/// If a step reached this share of its ideal gain, the next step of the workers has the factor
/// `k_long_step` instead of 2. The ideal gain is the ratio of the numbers of workers.
constexpr double k_near_ideal = 0.7;
constexpr double k_long_step = 4.0;
/// Largest share of the memory to use. With more, a machine may swap or kill the trial.
constexpr double k_memory_share = 0.9;

double largest_of(const Parameter& parameter) {
  if (parameter.choices.empty()) return parameter.high;
  double largest = 0.0;
  for (const Value& choice : parameter.choices)
    largest = std::max(largest, number_in(choice).value_or(0.0));
  return largest;
}

bool is_measured(const Observation& observation) {
  return observation.kind == ObservationKind::complete && !observation.values.empty();
}

/// Returns the choice of half precision that this machine computes fast; nullopt if there is none.
std::optional<Value> fast_precision(const Parameter& parameter, const GuessMachine& machine) {
  if (parameter.kind == ParameterKind::boolean) {
    const bool of_gpus = parameter.name.find("fp16") != std::string::npos ||
                         parameter.name.find("half") != std::string::npos ||
                         parameter.name.find("tf32") != std::string::npos;
    const bool fast = machine.gpus > 0 || (!of_gpus && machine.computes_bfloat16);
    return fast ? std::optional(Value(true)) : std::nullopt;
  }
  for (const char* wanted : {"bf16", "fp16"}) {
    const bool fast =
        std::string_view(wanted) == "bf16" ? machine.computes_bfloat16 : machine.gpus > 0;
    for (const Value& choice : parameter.choices)
      if (fast && precision_of(to_text(choice)) == wanted) return choice;
  }
  return std::nullopt;
}

/// Mean over several launches of one configuration. The weight of a launch is 1 / error^2.
struct Mean {
  double weighted = 0.0;
  double weight = 0.0;
  bool has_errors = true;

  void add(double value, double error) {
    // If a launch has no error, its weight is 1.
    has_errors = has_errors && error > 0.0;
    const double weight_of_launch = error > 0.0 ? 1.0 / (error * error) : 1.0;
    weighted += weight_of_launch * value;
    weight += weight_of_launch;
  }
  [[nodiscard]] double value() const { return weighted / weight; }
  [[nodiscard]] double variance() const { return has_errors ? 1.0 / weight : 0.0; }
};

}  // namespace

struct FirstGuesses::Best {
  Configuration configuration;
  double value = k_infinity;
};

FirstGuesses::FirstGuesses(const SearchSpace& space, Configuration baseline,
                           const GuessMachine& machine, const KnobRoles& declared)
    : space_(space),
      baseline_(std::move(baseline)),
      machine_(machine),
      levers_(levers_of(space, declared)) {
  for (const Parameter& parameter : space.parameters())
    roles_.push_back(role_of(declared, parameter.name));
}

const Parameter& FirstGuesses::leading(const Lever& lever) const {
  return space_.parameters()[lever.parameters.front()];
}

FirstGuesses::Best FirstGuesses::best_of(std::span<const Observation> observations) const {
  std::vector<std::pair<const Configuration*, Mean>> measured;
  for (const Observation& observation : observations) {
    if (!is_measured(observation) || !space_.contains(observation.configuration)) continue;
    auto known = std::ranges::find_if(
        measured, [&](const auto& its) { return *its.first == observation.configuration; });
    if (known == measured.end()) {
      known = measured.insert(measured.end(), {&observation.configuration, Mean()});
    }
    const auto& errors = observation.standard_errors;
    known->second.add(observation.values[0], errors.empty() ? 0.0 : errors[0]);
  }
  Best best{baseline_};
  double variance = 0.0;
  for (const auto& [configuration, mean] : measured) {
    const bool is_first = std::isinf(best.value);
    const double gain = best.value - mean.value();
    const double noise = k_z_gain * std::sqrt(variance + mean.variance());
    // A trial ends once its half-width is `k_usual_half_width`, so smaller gains may be noise.
    if (!is_first && gain <= std::max(noise, k_usual_half_width * best.value)) continue;
    best = {*configuration, mean.value()};
    variance = mean.variance();
  }
  return best;
}

std::optional<Configuration> FirstGuesses::moved(const Lever& lever, const Configuration& from,
                                                 const Value& value) const {
  Configuration guess = from;
  const Parameter& first = leading(lever);
  guess.set(first.name, value);
  for (const std::size_t index : lever.parameters) {
    const Parameter& parameter = space_.parameters()[index];
    if (roles_[index] == KnobRole::threads && lever.role == KnobRole::threads) {
      guess.set(parameter.name, nearest_level(parameter, number_in(value).value_or(1.0)));
    }
    // Set prefetch only if it has no value in `from`, because there were no workers.
    if (roles_[index] == KnobRole::prefetch && !from.contains(parameter.name)) {
      guess.set(parameter.name, nearest_level(parameter, double(k_default_prefetch_factor)));
    }
    if (roles_[index] == KnobRole::accumulation && !space_.contains(guess)) {
      const double step = number_of(from, first, 1.0) * number_of(from, parameter, 1.0);
      const double parts = step / std::max(1.0, number_of(guess, first, 1.0));
      guess.set(parameter.name, nearest_level(parameter, parts));
    }
  }
  // Encode and decode the guess. This drops inactive parameters, and gives values to parameters
  // that become active.
  const Point point = space_.encode(guess);
  const bool inside =
      std::ranges::none_of(point, [](double coordinate) { return std::isnan(coordinate); });
  if (!inside) return std::nullopt;
  guess = space_.decode(point);
  return space_.contains(guess) ? std::optional(std::move(guess)) : std::nullopt;
}

Climb FirstGuesses::climb_of(const Lever& lever, const Best& best,
                             std::span<const Observation> observations) const {
  const Parameter& parameter = leading(lever);
  const double cpus = machine_.cpus;
  const auto number = [&](const Configuration& its) { return lever_number(space_, lever, its); };
  Climb climb;
  // If thread counts differ, the configuration has not tried its number for all of them.
  const auto add_tried = [&](const LeverNumber& its) {
    if (its.is_common) climb.tried.push_back(its.number);
  };
  climb.today = number(baseline_).number;
  climb.best = number(best.configuration).number;
  add_tried(number(best.configuration));
  for (const Observation& observation : observations) {
    if (!on_one_instance(observation.configuration, best.configuration)) continue;
    const LeverNumber tried = number(observation.configuration);
    add_tried(tried);
    const bool failed = observation.kind == ObservationKind::out_of_memory ||
                        observation.kind == ObservationKind::failed;
    if (failed && tried.number > climb.best) {
      climb.too_large = std::min(climb.too_large.value_or(tried.number), tried.number);
    }
  }
  double before = climb.today;
  for (const double tried : climb.tried) {
    if (tried < climb.best) before = std::max(before, tried);
  }
  climb.most = most_in_memory(parameter, climb, before, observations);
  if (lever.role == KnobRole::threads) {
    const double cores = machine_.cores > 0 ? machine_.cores : cpus;
    climb.first = {cpus, cores, 1.0};
    // More threads than CPUs wait for each other.
    if (climb.today > cpus) climb.first = {1.0, cpus, cores};
    climb.may_fall = true;
  } else if (lever.role == KnobRole::workers) {
    // The survey offers a range far beyond the number of CPUs only if workers mostly wait.
    const bool may_wait = largest_of(parameter) > 2.0 * cpus;
    if (climb.today == 0.0) {
      climb.first = {std::min(may_wait ? 2.0 * cpus : cpus, k_usual_workers)};
    }
    climb.may_fall = climb.today > cpus;
    climb.falls_first = climb.may_fall && !may_wait;
    double value = k_infinity;
    for (const Observation& observation : observations) {
      if (is_measured(observation) && number(observation.configuration).number == before) {
        value = std::min(value, observation.values[0]);
      }
    }
    const double ideal = climb.best / std::max(1.0, before);
    const bool is_near_ideal =
        climb.best > climb.today && value / best.value >= k_near_ideal * ideal;
    climb.factor = is_near_ideal ? k_long_step : 2.0;
  } else {
    climb.factor = k_long_step;
  }
  return climb;
}

double FirstGuesses::most_in_memory(const Parameter& parameter, const Climb& climb, double before,
                                    std::span<const Observation> observations) const {
  const auto peak_at = [&](double number) {
    double peak = 0.0;
    for (const Observation& observation : observations) {
      if (number_of(observation.configuration, parameter, 0.0) == number) {
        peak = std::max(peak, observation.peak_memory_bytes.value_or(0.0));
      }
    }
    return peak;
  };
  if (!(machine_.memory_bytes > 0.0) || climb.best <= before) return k_infinity;
  const double now = peak_at(climb.best);
  const double each = (now - peak_at(before)) / (climb.best - before);
  if (!(now > 0.0) || !(peak_at(before) > 0.0) || !(each > 0.0)) return k_infinity;
  return climb.best + std::floor((k_memory_share * machine_.memory_bytes - now) / each);
}

std::optional<Configuration> FirstGuesses::move_number(
    const Lever& lever, const Best& best, std::span<const Observation> observations) const {
  const Parameter& parameter = leading(lever);
  Climb climb = climb_of(lever, best, observations);
  while (const auto number = next_number(parameter, climb)) {
    auto guess = moved(lever, best.configuration, nearest_level(parameter, *number));
    if (guess && !has_run_out(*guess, observations)) return guess;
    // The number needs too much memory or violates a constraint, so treat it as tried. If it is
    // above the best number, treat all larger numbers as too large.
    climb.tried.push_back(*number);
    if (*number > climb.best)
      climb.too_large = std::min(climb.too_large.value_or(*number), *number);
  }
  return std::nullopt;
}

std::vector<Value> FirstGuesses::worthwhile_choices(const Lever& lever, const Best& best) const {
  const Parameter& parameter = leading(lever);
  if (lever.role == KnobRole::precision) {
    const auto fast = fast_precision(parameter, machine_);
    return fast ? std::vector<Value>{*fast} : std::vector<Value>();
  }
  if (parameter.kind == ParameterKind::boolean) return {Value(true)};
  std::vector<Value> choices;
  const Value* today = baseline_.find(parameter.name);
  for (const Value& choice : parameter.choices) {
    if (today == nullptr || choice != *today) choices.push_back(choice);
  }
  // Compilation takes minutes, so try further modes only after one mode was faster.
  const Value* now = best.configuration.find(parameter.name);
  const bool has_paid = now != nullptr && today != nullptr && *now != *today;
  if (lever.role == KnobRole::compile && !has_paid && choices.size() > 1) choices.resize(1);
  return choices;
}

std::optional<Configuration> FirstGuesses::move_choice(
    const Lever& lever, const Best& best, std::span<const Observation> observations) const {
  const std::string& name = leading(lever).name;
  for (const Value& choice : worthwhile_choices(lever, best)) {
    const auto has_it = [&](const Configuration& configuration) {
      const Value* value = configuration.find(name);
      return value != nullptr && *value == choice;
    };
    const bool was_tried = std::ranges::any_of(
        observations, [&](const Observation& its) { return has_it(its.configuration); });
    if (was_tried || has_it(best.configuration)) continue;
    auto guess = moved(lever, best.configuration, choice);
    if (guess && has_it(*guess) && !has_run_out(*guess, observations)) return guess;
  }
  return std::nullopt;
}

std::optional<Configuration> FirstGuesses::move(const Lever& lever, const Best& best,
                                                std::span<const Observation> observations) const {
  const Parameter& parameter = leading(lever);
  const bool has_order = parameter.kind != ParameterKind::categorical && has_numbers(parameter);
  return is_a_number(lever.role) || (lever.role == KnobRole::other && has_order)
             ? move_number(lever, best, observations)
             : move_choice(lever, best, observations);
}

bool FirstGuesses::has_run_out(const Configuration& guess,
                               std::span<const Observation> observations) const {
  return std::ranges::any_of(observations, [&](const Observation& failure) {
    // If a trial that needs as much memory ran, another setting caused this failure.
    return failure.kind == ObservationKind::out_of_memory &&
           needs_as_much(guess, failure.configuration) &&
           std::ranges::none_of(observations, [&](const Observation& other) {
             return is_measured(other) && needs_as_much(other.configuration, failure.configuration);
           });
  });
}

bool FirstGuesses::on_one_instance(const Configuration& a, const Configuration& b) const {
  const auto instance = std::ranges::find(roles_, std::optional(KnobRole::instance));
  if (instance == roles_.end()) return true;
  const auto& name = space_.parameters()[static_cast<std::size_t>(instance - roles_.begin())].name;
  const Value* one = a.find(name);
  const Value* two = b.find(name);
  return one == two || (one != nullptr && two != nullptr && *one == *two);
}

bool FirstGuesses::needs_as_much(const Configuration& guess, const Configuration& other) const {
  if (!on_one_instance(guess, other)) return false;
  const Point one = space_.encode(guess);
  const Point two = space_.encode(other);
  for (std::size_t i = 0; i < one.size(); ++i) {
    const Parameter& parameter = space_.parameters()[i];
    const bool less = parameter.memory == MemoryEffect::increases   ? one[i] < two[i]
                      : parameter.memory == MemoryEffect::decreases ? one[i] > two[i]
                                                                    : false;
    const bool other_precision = roles_[i] == KnobRole::precision && one[i] != two[i];
    if (less || other_precision) return false;
  }
  return true;
}

std::optional<Configuration> FirstGuesses::next(std::span<const Observation> observations,
                                                std::span<const Configuration> running) const {
  Visited visited(space_);
  for (const Observation& observation : observations)
    visited.add(observation.configuration);
  for (const Configuration& configuration : running)
    visited.add(configuration);
  const Best best = best_of(observations);
  const auto is_under_way = [&](const Lever& lever) {
    const std::string& name = leading(lever).name;
    const Value* now = best.configuration.find(name);
    return std::ranges::any_of(running, [&](const Configuration& configuration) {
      const Value* value = configuration.find(name);
      return value != nullptr && (now == nullptr || *value != *now);
    });
  };
  for (const Lever& lever : levers_) {
    if (is_under_way(lever)) continue;
    auto guess = move(lever, best, observations);
    if (guess && !visited.contains(space_.encode(*guess))) return guess;
  }
  if (!running.empty()) return std::nullopt;
  for (auto several : {shared_cpus(best), small_gains(best, observations)}) {
    const bool is_new = several && !visited.contains(space_.encode(*several));
    if (is_new && !has_run_out(*several, observations)) return several;
  }
  return std::nullopt;
}

std::optional<Configuration> FirstGuesses::shared_cpus(const Best& best) const {
  const auto workers = std::ranges::find(levers_, KnobRole::workers, &Lever::role);
  const auto threads = std::ranges::find(levers_, KnobRole::threads, &Lever::role);
  if (machine_.gpus > 0 || workers == levers_.end() || threads == levers_.end()) {
    return std::nullopt;
  }
  const double now = lever_number(space_, *workers, best.configuration).number;
  const double half = std::clamp(std::floor(0.5 * machine_.cpus), 2.0, k_usual_workers);
  const double wanted = now > 0.0 ? now : half;
  const double left = std::max(1.0, machine_.cpus - wanted);
  if (lever_number(space_, *threads, best.configuration).number <= left) return std::nullopt;
  const auto with_workers =
      moved(*workers, best.configuration, nearest_level(leading(*workers), wanted));
  if (!with_workers) return std::nullopt;
  return moved(*threads, *with_workers, nearest_level(leading(*threads), left));
}

std::optional<Configuration> FirstGuesses::small_gains(
    const Best& best, std::span<const Observation> observations) const {
  Configuration together = best.configuration;
  int gains = 0;
  for (const Lever& lever : levers_) {
    const std::string& name = leading(lever).name;
    const Observation* fastest = nullptr;
    for (const Observation& observation : observations) {
      const Value* value = observation.configuration.find(name);
      if (!is_measured(observation) || value == nullptr) continue;
      const auto move = moved(lever, best.configuration, *value);
      const bool is_move =
          move && *move == observation.configuration && *move != best.configuration;
      const double least =
          fastest == nullptr ? (1.0 - k_usual_half_width) * best.value : fastest->values[0];
      if (is_move && observation.values[0] < least) fastest = &observation;
    }
    if (fastest == nullptr) continue;
    const auto with_it = moved(lever, together, *fastest->configuration.find(name));
    if (!with_it) continue;
    together = *with_it;
    ++gains;
  }
  return gains >= 2 ? std::optional(together) : std::nullopt;
}

std::optional<Reach> FirstGuesses::reach(std::span<const Observation> observations) const {
  const auto workers = std::ranges::find(levers_, KnobRole::workers, &Lever::role);
  if (workers == levers_.end()) return std::nullopt;
  const Parameter& parameter = leading(*workers);
  const double paid = std::max({number_of(baseline_, parameter, 0.0), double(machine_.cpus),
                                number_of(best_of(observations).configuration, parameter, 0.0)});
  if (largest_of(parameter) <= 2.0 * paid) return std::nullopt;
  return Reach{parameter.name, 2.0 * paid};
}

bool Reach::contains(const Configuration& configuration) const {
  const Value* value = configuration.find(parameter);
  return value == nullptr || number_in(*value).value_or(0.0) <= most;
}

}  // namespace steptune
