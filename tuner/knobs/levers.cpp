// SPDX-License-Identifier: Apache-2.0
#include "tuner/knobs/levers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace steptune {
namespace {

/// Least ratio of two tried numbers at which a number between them is worth a trial. A gap that a
/// step of factor 4 leaves is searched; a gap that a doubling leaves is not.
constexpr double k_least_gap = 3.0;

/// Returns the role of each parameter, in the order of the space; nullopt for a parameter without a
/// role.
std::vector<std::optional<KnobRole>> roles_of(const SearchSpace& space, const KnobRoles& declared) {
  const auto is_declared = [&](KnobRole role) {
    return std::ranges::any_of(declared, [&](const auto& its) { return its.second == role; });
  };
  std::vector<std::optional<KnobRole>> roles;
  for (const Parameter& parameter : space.parameters()) {
    auto role = role_of(declared, parameter.name);
    if (role && is_a_number(*role) && !has_numbers(parameter)) role.reset();
    // A role derived from the parameter's name is a guess. Drop the guess if the study file
    // declares the role for another parameter.
    const bool is_guess = role && role != KnobRole::other && !declared.contains(parameter.name);
    if (is_guess && is_declared(*role)) role.reset();
    roles.push_back(role);
  }
  return roles;
}

bool is_lever(KnobRole role) {
  return role != KnobRole::instance && role != KnobRole::checkpointing;
}

/// True if one lever moves all parameters of this role to the same value.
bool moves_together(KnobRole role) {
  return role == KnobRole::threads;
}

/// Returns the role of the parameter that parameters of this role follow; nullopt if they follow
/// none.
std::optional<KnobRole> leader_of(KnobRole role) {
  if (role == KnobRole::prefetch) return KnobRole::workers;
  if (role == KnobRole::accumulation) return KnobRole::batch;
  return std::nullopt;
}

/// Returns the level that is nearest to `wanted` and fits into memory, if it was not tried yet.
std::optional<double> untried_level_near(const Parameter& parameter, const Climb& climb,
                                         double wanted) {
  const double level =
      number_in(nearest_level(parameter, std::min(wanted, climb.most))).value_or(climb.best);
  const bool is_new = std::ranges::find(climb.tried, level) == climb.tried.end();
  return is_new ? std::optional(level) : std::nullopt;
}

/// Returns the tried number that is nearest to the best, above it (`up`) or below it.
std::optional<double> neighbour(const Climb& climb, bool up) {
  std::optional<double> nearest;
  for (const double number : climb.tried) {
    if (up ? number <= climb.best : number >= climb.best) continue;
    if (!nearest || (up ? number < *nearest : number > *nearest)) nearest = number;
  }
  return nearest;
}

/// Returns an untried level halfway between the best and `other` on a logarithmic scale. nullopt if
/// the two are closer than `k_least_gap`.
std::optional<double> between(const Parameter& parameter, const Climb& climb, double other) {
  const double low = std::max(1.0, std::min(climb.best, other));
  const double high = std::max(climb.best, other);
  if (high < k_least_gap * low) return std::nullopt;
  return untried_level_near(parameter, climb, std::sqrt(low * high));
}

/// Returns the next number above (`up`) or below the best; nullopt if this direction is done.
std::optional<double> step_from_best(const Parameter& parameter, const Climb& climb, bool up) {
  // This direction is done if steps in the other direction made the program faster.
  if (up ? climb.best < climb.today : climb.best > climb.today) return std::nullopt;
  const auto beyond = neighbour(climb, up);
  if (!beyond) {
    const double next =
        up ? std::max(1.0, climb.best * climb.factor) : std::floor(climb.best / climb.factor);
    return untried_level_near(parameter, climb, next);
  }
  // The step to `beyond` did not make the program faster, so try a shorter one. But shorten a first
  // step from today's value only if it failed (`too_large`) or started below 1.
  const bool may_be_shorter =
      climb.best != climb.today || climb.today < 1.0 || beyond == climb.too_large;
  return may_be_shorter ? between(parameter, climb, *beyond) : std::nullopt;
}

}  // namespace

std::vector<Lever> levers_of(const SearchSpace& space, const KnobRoles& declared) {
  const auto roles = roles_of(space, declared);
  const auto is_there = [&](KnobRole role) {
    return std::ranges::find(roles, std::optional(role)) != roles.end();
  };
  std::vector<Lever> levers;
  const auto lever_of = [&](KnobRole role) {
    return std::ranges::find(levers, role, &Lever::role);
  };
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (!roles[i] || !is_lever(*roles[i])) continue;
    const KnobRole role = *roles[i];
    const auto leader = leader_of(role);
    if (leader && is_there(*leader)) continue;
    const bool is_one_of_many = role == KnobRole::other || role == KnobRole::precision;
    const auto same = is_one_of_many ? levers.end() : lever_of(role);
    if (same == levers.end()) {
      levers.push_back({role, {i}});
    } else if (moves_together(role)) {
      same->parameters.push_back(i);
    }
  }
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const auto leader = roles[i] ? leader_of(*roles[i]) : std::nullopt;
    if (!leader || !is_there(*leader)) continue;
    const auto lever = lever_of(*leader);
    if (lever != levers.end()) lever->parameters.push_back(i);
  }
  return levers;
}

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
  // Levels ascend. Find the first level that is not below `wanted`, then compare it with the
  // previous level.
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

LeverNumber lever_number(const SearchSpace& space, const Lever& lever,
                         const Configuration& configuration) {
  const auto& parameters = space.parameters();
  const std::size_t first = lever.parameters.front();
  LeverNumber result{number_of(configuration, parameters[first], 0.0)};
  if (!moves_together(lever.role)) return result;
  double most = result.number;
  for (const std::size_t index : lever.parameters) {
    const double common =
        number_in(nearest_level(parameters[index], result.number)).value_or(result.number);
    const double number = number_of(configuration, parameters[index], common);
    if (index != first && number != common) result.is_common = false;
    most = std::max(most, number);
  }
  if (!result.is_common) result.number = most;
  return result;
}

std::optional<double> next_number(const Parameter& parameter, const Climb& climb) {
  for (const double number : climb.first) {
    if (const auto level = untried_level_near(parameter, climb, number)) return level;
  }
  for (const bool up : {!climb.falls_first, climb.falls_first}) {
    if (!up && !climb.may_fall) continue;
    if (const auto level = step_from_best(parameter, climb, up)) return level;
  }
  // A long step may have skipped a better number, or one that is equally good and nearer to
  // today's.
  if (climb.best == climb.today) return std::nullopt;
  const auto behind = neighbour(climb, climb.best < climb.today);
  return behind ? between(parameter, climb, *behind) : std::nullopt;
}

}  // namespace steptune
