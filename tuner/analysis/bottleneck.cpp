// SPDX-License-Identifier: Apache-2.0
#include "tuner/analysis/bottleneck.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/rng.hpp"
#include "tuner/analysis/importance.hpp"
#include "tuner/study/counting_parameter.hpp"

namespace steptune {
namespace {

// Metric names from docs/hooks.md.
constexpr const char* k_loader_queue_empty = "loader_queue_empty_share";
constexpr const char* k_loader_worker_cpu = "loader_worker_cpu_share";

std::optional<double> metric_of(const Measurement& measurement, const char* name) {
  const auto found = measurement.metrics.find(name);
  return found == measurement.metrics.end() ? std::nullopt : std::optional(found->second);
}

void add_stages(Bottleneck& bottleneck, const Measurement& measurement) {
  double reported_total = 0.0;
  for (const auto& [part, seconds] : measurement.parts)
    reported_total += seconds;
  if (!(reported_total > 0.0)) return;
  // The parts may overlap (a loader's thread) or include evaluations. Their sum can then exceed the
  // time of the steps.
  const double whole = std::max(reported_total, bottleneck.step_seconds_per_sample);
  std::map<std::optional<StepStage>, StageTime> by_stage;
  for (const auto& [part, seconds] : measurement.parts) {
    const auto stage = stage_of_part(part);
    StageTime& time = by_stage[stage];
    time.stage = stage;
    time.parts.push_back(part);
    time.seconds_per_sample += seconds;
    time.share += seconds / whole;
  }
  for (auto& [stage, time] : by_stage)
    bottleneck.stages.push_back(std::move(time));
  std::ranges::stable_sort(bottleneck.stages, [](const StageTime& a, const StageTime& b) {
    return a.seconds_per_sample > b.seconds_per_sample;
  });
  bottleneck.unreported_share = std::max(0.0, 1.0 - reported_total / whole);
}

/// Returns the ratio of two predicted times, given as draws of their logarithms. Adds the
/// unexplained variation of both configurations, unless they are equal.
Estimate ratio_of(const EffectsModel& model, const std::vector<double>& slower,
                  const std::vector<double>& faster) {
  Rng rng(0, "responses");
  std::vector<double> ratios;
  for (std::size_t draw = 0; draw < slower.size(); ++draw) {
    const double unexplained =
        slower == faster ? 0.0 : model.unexplained()[draw] * (rng.normal() - rng.normal());
    ratios.push_back(std::exp(slower[draw] - faster[draw] + unexplained));
  }
  return estimate_of(std::move(ratios));
}

/// Predicts the time for each value of the parameter that the space allows with the other values.
ParameterResponse response_to(const SearchSpace& space, const EffectsModel& model,
                              const Point& point, std::size_t index) {
  const Parameter& parameter = space.parameters()[index];
  const std::vector<double> now = model.values_at(point);
  std::vector<double> best = now;
  std::vector<double> worst = now;
  ParameterResponse response;
  response.parameter = parameter.name;
  response.now = parameter.at_position(point[index]);
  response.best = response.now;
  response.worst = response.now;
  for (const double node : model.basis(index).nodes()) {
    Point other = point;
    other[index] = node;
    if (!space.snap(other)) continue;
    std::vector<double> values = model.values_at(other);
    const double mean = mean_of_draws(values);
    if (mean < mean_of_draws(best)) {
      best = values;
      response.best = parameter.at_position(other[index]);
    }
    if (mean > mean_of_draws(worst)) {
      worst = std::move(values);
      response.worst = parameter.at_position(other[index]);
    }
  }
  response.gain = ratio_of(model, now, best);
  response.range = ratio_of(model, worst, best);
  return response;
}

void add_tried_range(ParameterResponse& response, const Parameter& parameter,
                     const TrialSamples& samples, std::size_t index) {
  if (!is_numeric(parameter)) return;
  std::optional<Value>& least = response.least_tried;
  std::optional<Value>& most = response.most_tried;
  for (const EffectSample& sample : samples.samples) {
    if (sample.point[index] == k_inactive) continue;
    // Choices may be in any order, so compare their values, not their positions.
    const Value value = parameter.at_position(sample.point[index]);
    if (!least || to_number(value) < to_number(*least)) least = value;
    if (!most || to_number(value) > to_number(*most)) most = value;
  }
  // Integers are assumed to be counts, which are at least 1, or 0 for "none".
  response.least_is_limit =
      least && std::holds_alternative<std::int64_t>(*least) && to_number(*least) <= 1.0;
}

/// Returns the parameters for which `importance` finds an effect.
std::set<std::string> effective_parameters(const SearchSpace& space, const TrialSamples& samples,
                                           const EffectsModel& model) {
  std::set<std::string> names;
  const Importance importance = importance_of(space, samples, &model);
  for (const ParameterImportance& parameter : importance.parameters) {
    if (has_clear_effect(parameter, importance)) names.insert(parameter.parameter);
  }
  for (const PairImportance& pair : importance.pairs)
    names.insert({pair.first, pair.second});
  return names;
}

void add_responses(Bottleneck& bottleneck, const SearchSpace& space, const Json& study_document,
                   const Point& point, const TrialSamples& samples, const EffectsModel& model) {
  const std::set<std::string> effective = effective_parameters(space, samples, model);
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    if (!model.varied(i)) continue;
    const std::string& name = space.parameters()[i].name;
    if (point[i] == k_inactive) {
      bottleneck.inactive.push_back(name);
      continue;
    }
    auto response = response_to(space, model, point, i);
    response.stage = stage_of_parameter(name, study_document);
    response.has_effect = effective.contains(name);
    add_tried_range(response, space.parameters()[i], samples, i);
    bottleneck.responses.push_back(std::move(response));
  }
  std::ranges::stable_sort(bottleneck.responses, [](const auto& a, const auto& b) {
    return a.range.mean > b.range.mean;
  });
}

}  // namespace

bool ParameterResponse::is_open_end(const Value& value) const {
  if (!least_tried || !most_tried) return false;
  return value == *most_tried || (value == *least_tried && !least_is_limit);
}

std::optional<double> Bottleneck::most_gain(StepStage stage) const {
  if (stages.empty()) return std::nullopt;
  if (stage == StepStage::data && is_baseline && loading_ceiling) return loading_ceiling;
  std::optional<double> stage_share;  // set even if the stage took no time
  double unplaced = unreported_share;
  for (const StageTime& time : stages) {
    if (time.stage == stage) stage_share = stage_share.value_or(0.0) + time.share;
    if (!time.stage) unplaced += time.share;
  }
  // A stage that was not reported may have taken all the unassigned time.
  return 1.0 / std::max(1.0 - stage_share.value_or(unplaced), 1e-3);
}

Bottleneck bottleneck_of(const SearchSpace& space, const Json& study_document,
                         const TrialRecord& trial, const TrialSamples& samples,
                         const EffectsModel* model, std::optional<double> planned_samples) {
  Bottleneck bottleneck;
  bottleneck.trial = trial.number;
  bottleneck.trials = samples.samples.size();
  bottleneck.unit = unit_name(study_document);
  bottleneck.loading_ceiling = number_at(study_document, "loading_ceiling");
  bottleneck.is_baseline = trial.purpose == TrialPurpose::baseline;
  if (trial.measurement) {
    const Measurement& measurement = *trial.measurement;
    const double per_sample = measurement.seconds_per_sample;
    const double per_step_sample = measurement.step_seconds_per_sample;
    bottleneck.step_seconds_per_sample = per_step_sample > 0.0 ? per_step_sample : per_sample;
    add_stages(bottleneck, measurement);
    bottleneck.loader_queue_empty = metric_of(measurement, k_loader_queue_empty);
    bottleneck.loader_worker_cpu = metric_of(measurement, k_loader_worker_cpu);
    if (per_sample > 0.0 && per_step_sample > 0.0) {
      bottleneck.interruptions_share = std::max(0.0, 1.0 - per_step_sample / per_sample);
    }
    if (planned_samples && per_sample > 0.0) {
      const double once_s = measurement.once_s();
      bottleneck.startup_share = once_s / (once_s + *planned_samples * per_sample);
    }
  }
  if (trial.gpu) bottleneck.gpu_busy = trial.gpu->utilisation;
  bottleneck.cpu_busy = trial.cpu_busy;
  for (const Parameter& parameter : space.parameters()) {
    if (const auto stage = stage_of_parameter(parameter.name, study_document))
      bottleneck.parameters[*stage].push_back(parameter.name);
  }
  const Point point = space.encode(trial.configuration);
  const bool in_space = std::ranges::none_of(point, [](double at) { return std::isnan(at); });
  if (model != nullptr && samples.logarithmic && in_space) {
    add_responses(bottleneck, space, study_document, point, samples, *model);
  } else {
    bottleneck.why_no_responses =
        bottleneck.trials < EffectsModel::k_fewest_samples
            ? fmt::format("{} measured; {} are needed to find what the step time depends on",
                          bottleneck.trials == 1 ? "1 trial was"
                                                 : fmt::format("{} trials were", bottleneck.trials),
                          EffectsModel::k_fewest_samples)
            : "the measured trials do not show what the step time depends on";
  }
  return bottleneck;
}

}  // namespace steptune
