// SPDX-License-Identifier: Apache-2.0
#include "tuner/knobs/first_guesses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "common/text.hpp"
#include "search/searchers/visited.hpp"

namespace steptune {
namespace {

/// Batches that each worker loads ahead.
constexpr double k_usual_prefetch = 4.0;

/// A value of the parameter that is nearest to `wanted`.
Value nearest_level(const Parameter& parameter, double wanted) {
  const auto away = [wanted](const Value& value) { return std::abs(*number_in(value) - wanted); };
  if (!parameter.choices.empty()) {
    return *std::ranges::min_element(parameter.choices, {}, away);
  }
  const auto count = parameter.level_count();
  if (!count) {
    const double within = std::clamp(wanted, parameter.low, parameter.high);
    return parameter.at_position(parameter.position_of(Value(within)));
  }
  // Of a number they ascend: the first one that is not below, or the one before it.
  std::uint64_t first = 0;
  for (std::uint64_t end = *count - 1; first < end;) {
    const std::uint64_t middle = first + (end - first) / 2;
    if (*number_in(parameter.level(middle)) < wanted) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  if (first > 0 && away(parameter.level(first - 1)) <= away(parameter.level(first))) --first;
  return parameter.level(first);
}

double number_of(const Configuration& configuration, const Parameter& parameter, double otherwise) {
  const Value* value = configuration.find(parameter.name);
  return value == nullptr ? otherwise : number_in(*value).value_or(otherwise);
}

double largest_of(const Parameter& parameter) {
  if (parameter.choices.empty()) return parameter.high;
  double largest = 0.0;
  for (const Value& choice : parameter.choices)
    largest = std::max(largest, number_in(choice).value_or(0.0));
  return largest;
}

/// The choice of half precision that this machine computes fast; nothing where none is.
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

}  // namespace

/// Which of the things that make training faster are done.
struct FirstGuesses::Levers {
  bool loading = false;
  bool precision = false;
  bool batch = false;
  bool fewer_workers = false;
};

FirstGuesses::FirstGuesses(const SearchSpace& space, Configuration baseline,
                           const GuessMachine& machine, const KnobRoles& declared)
    : space_(space), baseline_(std::move(baseline)), machine_(machine) {
  const auto is_declared = [&](KnobRole role) {
    return std::ranges::any_of(declared, [&](const auto& its) { return its.second == role; });
  };
  for (const Parameter& parameter : space.parameters()) {
    auto role = role_of(declared, parameter.name);
    if (role && is_a_number(*role) && !has_numbers(parameter)) role.reset();
    // Of two with one role the declared one is meant, else the first: both would be done twice.
    const bool taken = role && role != KnobRole::other &&
                       (std::ranges::find(roles_, role) != roles_.end() ||
                        (!declared.contains(parameter.name) && is_declared(*role)));
    roles_.push_back(taken ? std::nullopt : role);
  }
}

const Parameter* FirstGuesses::of(KnobRole role) const {
  const auto found = std::ranges::find(roles_, std::optional(role));
  return found == roles_.end()
             ? nullptr
             : &space_.parameters()[static_cast<std::size_t>(found - roles_.begin())];
}

bool FirstGuesses::knows_anything() const {
  return std::ranges::any_of(
      roles_, [](const auto& role) { return role.has_value() && role != KnobRole::instance; });
}

void FirstGuesses::share_cpus(Configuration& configuration) const {
  const Parameter* workers = of(KnobRole::workers);
  const Parameter* threads = of(KnobRole::threads);
  const double cpus = machine_.cpus;
  if (workers == nullptr) {
    if (threads != nullptr) configuration.set(threads->name, nearest_level(*threads, cpus));
    return;
  }
  // Where GPUs compute, the CPUs load data; otherwise they do both.
  const double loading =
      threads == nullptr || machine_.gpus > 0 ? cpus : std::max(1.0, std::floor(std::sqrt(cpus)));
  const Value chosen = nearest_level(*workers, loading);
  configuration.set(workers->name, chosen);
  if (threads == nullptr) return;
  configuration.set(threads->name,
                    nearest_level(*threads, cpus / std::max(1.0, number_in(chosen).value_or(1.0))));
}

/// On a logarithmic scale half way from today's batch to the smallest one that is known to be too
/// large: a halving search.
std::optional<double> FirstGuesses::larger_batch(const Configuration& from,
                                                 std::span<const Observation> observations) const {
  const Parameter& batch = *of(KnobRole::batch);
  const double today = number_of(from, batch, 1.0);
  const double largest = largest_of(batch);
  double best = std::numeric_limits<double>::infinity();
  for (const Observation& observation : observations) {
    if (observation.configuration == from && !observation.values.empty()) {
      best = std::min(best, observation.values[0]);
    }
  }
  double too_large = std::numeric_limits<double>::infinity();
  bool went_up = false;
  for (const Observation& observation : observations) {
    if (!on_one_instance(observation.configuration, from)) continue;
    const double tried = number_of(observation.configuration, batch, today);
    if (tried > number_of(baseline_, batch, today)) went_up = true;
    if (tried <= today) continue;
    const bool worse = observation.kind != ObservationKind::complete ||
                       observation.values.empty() || observation.values[0] >= best;
    if (worse) too_large = std::min(too_large, tried);
  }
  if (std::isinf(too_large)) {
    // Nothing speaks against the largest, but memory may: first half of the way to it, then twice.
    const bool may_not_fit = batch.memory == MemoryEffect::increases && !went_up;
    if (may_not_fit) return std::sqrt(std::max(today, 1.0) * largest);
    return went_up ? std::min(2.0 * today, largest) : largest;
  }
  const double between = std::sqrt(std::max(today, 1.0) * too_large);
  const double level = number_in(nearest_level(batch, between)).value_or(today);
  return level > today && level < too_large ? std::optional(level) : std::nullopt;
}

std::optional<Configuration> FirstGuesses::pull(const Configuration& from, const Levers& levers,
                                                std::span<const Observation> observations) const {
  Configuration guess = from;
  for (std::size_t i = 0; i < roles_.size(); ++i) {
    if (!roles_[i]) continue;
    const Parameter& parameter = space_.parameters()[i];
    switch (*roles_[i]) {
      case KnobRole::prefetch:
        if (levers.loading) guess.set(parameter.name, nearest_level(parameter, k_usual_prefetch));
        break;
      case KnobRole::transfer:
      case KnobRole::other:
        if (levers.loading && parameter.kind == ParameterKind::boolean) {
          guess.set(parameter.name, Value(true));
        }
        break;
      case KnobRole::precision:
        if (const auto fast = fast_precision(parameter, machine_); fast && levers.precision) {
          guess.set(parameter.name, *fast);
        }
        break;
      case KnobRole::layout:
        if (levers.precision && parameter.kind == ParameterKind::boolean) {
          guess.set(parameter.name, Value(true));
        }
        break;
      default:
        break;
    }
  }
  if (levers.loading) share_cpus(guess);
  const Parameter* workers = of(KnobRole::workers);
  if (levers.fewer_workers && workers != nullptr) {
    const double fewer = number_of(from, *workers, 0.0) / 2.0;
    if (fewer >= 1.0) guess.set(workers->name, nearest_level(*workers, fewer));
  }
  const Parameter* batch = of(KnobRole::batch);
  if (levers.batch && batch != nullptr) {
    const auto level = larger_batch(from, observations);
    if (level) guess.set(batch->name, nearest_level(*batch, *level));
    // An optimizer step keeps its samples where a constraint asks for it.
    const Parameter* accumulation = of(KnobRole::accumulation);
    if (accumulation != nullptr && !space_.contains(guess)) {
      const double step = number_of(from, *batch, 1.0) * number_of(from, *accumulation, 1.0);
      const double parts = step / std::max(1.0, number_of(guess, *batch, 1.0));
      guess.set(accumulation->name, nearest_level(*accumulation, parts));
    }
  }
  // Drops what has no effect here, and gives a value to what now has one.
  const Point point = space_.encode(guess);
  const bool inside =
      std::ranges::none_of(point, [](double coordinate) { return std::isnan(coordinate); });
  if (!inside) return std::nullopt;
  guess = space_.decode(point);
  return space_.contains(guess) ? std::optional(std::move(guess)) : std::nullopt;
}

bool FirstGuesses::on_one_instance(const Configuration& a, const Configuration& b) const {
  const Parameter* instance = of(KnobRole::instance);
  if (instance == nullptr) return true;
  const Value* one = a.find(instance->name);
  const Value* two = b.find(instance->name);
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
  if (observations.size() + running.size() >= k_guessed_trials) return std::nullopt;
  Visited visited(space_);
  const Configuration* best = &baseline_;
  double least = std::numeric_limits<double>::infinity();
  for (const Observation& observation : observations) {
    visited.add(observation.configuration);
    if (observation.kind != ObservationKind::complete || observation.values.empty()) continue;
    if (observation.values[0] >= least || !space_.contains(observation.configuration)) continue;
    least = observation.values[0];
    best = &observation.configuration;
  }
  for (const Configuration& configuration : running)
    visited.add(configuration);
  const auto ran_out = [&](const Configuration& guess) {
    return std::ranges::any_of(observations, [&](const Observation& observation) {
      return observation.kind == ObservationKind::out_of_memory &&
             needs_as_much(guess, observation.configuration);
    });
  };
  const Levers all{true, true, true, false};
  const std::vector<Levers> improved = {
      {false, false, true, false}, {false, false, false, true}, {true, true, false, false}};
  const std::vector<Levers> unimproved = {
      all, {true, false, false, false}, {false, true, false, false}, {false, false, true, false}};
  for (const Levers& levers : *best == baseline_ ? unimproved : improved) {
    auto guess = pull(*best, levers, observations);
    if (!guess || visited.contains(space_.encode(*guess)) || ran_out(*guess)) continue;
    return guess;
  }
  return std::nullopt;
}

}  // namespace steptune
