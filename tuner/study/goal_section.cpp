// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/goal_section.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/study/identifiers.hpp"
#include "tuner/study/study_keys.hpp"

namespace steptune::study {
namespace {

constexpr std::size_t k_max_objectives = 2;
constexpr std::size_t k_max_guards = 50;
constexpr double k_max_samples = 1e18;

std::optional<std::string> read_metric(const Node& node) {
  auto name = node.text();
  if (!name) return std::nullopt;
  if (is_metric_name(*name)) return name;
  node.fault(
      fmt::format("\"{}\" is no metric name: use letters, digits and _.:/@-, starting with a "
                  "letter",
                  printable_line(*name, 60)));
  return std::nullopt;
}

std::optional<Objective> read_objective(const Node& node) {
  Objective objective;
  if (node.json().is_string()) {
    auto metric = read_metric(node);
    if (!metric) return std::nullopt;
    objective.metric = *std::move(metric);
    return objective;
  }
  const ObjectNode object(node,
                          "\"time\", \"cost\", a metric's name, or an object such as "
                          "{\"metric\": \"accuracy\", \"direction\": \"maximize\"}",
                          keys::k_objective);
  const auto child = object.require("metric");
  auto metric = child ? read_metric(*child) : std::nullopt;
  if (const auto direction = object.find("direction")) {
    const auto index = direction->one_of(names::k_directions);
    if (index) objective.direction = static_cast<Direction>(*index);
  }
  if (!metric) return std::nullopt;
  objective.metric = *std::move(metric);
  if ((objective.is_time() || objective.is_cost()) && objective.direction == Direction::maximize) {
    object.find("direction")->fault(objective.metric + " can only be minimized");
  }
  return objective;
}

/// One of a guard's limits; false if it is absent.
bool read_limit(const ObjectNode& object, std::string_view key, std::optional<double>& out,
                Range range) {
  object.read_number(key, out, range);
  return object.has(key);
}

Guard read_guard(const Node& node) {
  Guard guard;
  const ObjectNode object(node, "an object such as {\"metric\": \"loss\", \"max\": 4.0}",
                          keys::k_guard);
  if (const auto metric = object.require("metric")) {
    guard.metric = read_metric(*metric).value_or("");
  }
  object.read_number("after_samples", guard.after_samples, {0.0, k_max_samples});
  constexpr Range k_any{-1e300, 1e300};
  constexpr Range k_ratio{1e-6, 1e6};
  bool limited = read_limit(object, "max", guard.max, k_any);
  limited |= read_limit(object, "min", guard.min, k_any);
  limited |= read_limit(object, "max_ratio_to_baseline", guard.max_ratio_to_baseline, k_ratio);
  limited |= read_limit(object, "min_ratio_to_baseline", guard.min_ratio_to_baseline, k_ratio);
  if (!limited && node.json().is_object()) {
    node.fault(
        "the guard has no limit: give \"max\", \"min\", \"max_ratio_to_baseline\" or "
        "\"min_ratio_to_baseline\"");
  }
  const auto check_order = [&](const auto& low, const auto& high, std::string_view key) {
    if (low && high && *low > *high) {
      object.find(key)->fault(
          fmt::format("nothing can be at least {} and at most {}", *low, *high));
    }
  };
  check_order(guard.min, guard.max, "min");
  check_order(guard.min_ratio_to_baseline, guard.max_ratio_to_baseline, "min_ratio_to_baseline");
  return guard;
}

}  // namespace

std::vector<Objective> read_objectives(const Node& node) {
  std::vector<Objective> objectives;
  const auto elements = node.elements(k_max_objectives);
  for (const Node& element : elements) {
    auto objective = read_objective(element);
    if (!objective) continue;
    const bool repeated =
        std::any_of(objectives.begin(), objectives.end(),
                    [&](const Objective& other) { return other.metric == objective->metric; });
    if (repeated)
      element.fault(fmt::format("the objective \"{}\" appears twice", objective->metric));
    objectives.push_back(*std::move(objective));
  }
  if (node.json().is_array() && node.json().empty()) {
    node.fault(
        "the list is empty: name \"time\", \"cost\" or a metric, or remove the key for "
        "\"time\"");
  }
  return objectives;
}

std::vector<Guard> read_guards(const Node& node) {
  std::vector<Guard> guards;
  for (const Node& element : node.elements(k_max_guards))
    guards.push_back(read_guard(element));
  return guards;
}

PlannedRun read_planned_run(const Node& node, const ParameterSection& parameters,
                            const Facts& facts) {
  PlannedRun planned;
  const ObjectNode object(node,
                          "an object such as {\"samples\": 1.3e9, \"batch_size\": \"batch_size\"}",
                          keys::k_planned_run);
  object.read_number("samples", planned.samples, {1.0, k_max_samples});
  if (const auto batch = object.find("batch_size")) {
    if (batch->json().is_number()) {
      const auto size = batch->integer({1.0, 1e12});
      if (size) planned.batch_size = fmt::format("{}", *size);
    } else {
      planned.batch_size = read_expression(*batch, parameters.names(), facts);
    }
  }
  return planned;
}

}  // namespace steptune::study
