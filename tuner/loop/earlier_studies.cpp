// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/earlier_studies.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "tuner/loop/budget.hpp"
#include "tuner/loop/observations.hpp"

namespace steptune {
namespace {

/// Returns the index of each objective of `study` among the objectives of `earlier`; nullopt if one
/// is missing.
std::optional<std::vector<std::size_t>> places_of_objectives(const StudySpec& study,
                                                             const StudySpec& earlier) {
  std::vector<std::size_t> places;
  for (const Objective& wanted : study.objectives) {
    const auto found = std::ranges::find_if(earlier.objectives, [&](const Objective& objective) {
      return objective.metric == wanted.metric && objective.direction == wanted.direction;
    });
    if (found == earlier.objectives.end()) return std::nullopt;
    places.push_back(static_cast<std::size_t>(found - earlier.objectives.begin()));
  }
  return places;
}

std::string names_of(const std::vector<Objective>& objectives) {
  std::string names;
  for (const Objective& objective : objectives) {
    if (!names.empty()) names += ", ";
    names += objective.metric;
    if (objective.direction == Direction::maximize) names += " (maximized)";
  }
  return names;
}

Configuration in_terms_of(const StudySpec& study, const StudySpec& earlier,
                          const Configuration& configuration) {
  Configuration translated;
  for (const Parameter& parameter : study.space.parameters()) {
    const bool varied = earlier.space.find(parameter.name) != nullptr;
    const Value* value = (varied ? configuration : study.baseline).find(parameter.name);
    if (value != nullptr) translated.set(parameter.name, *value);
  }
  return translated;
}

std::vector<double> in_order(const std::vector<double>& values,
                             const std::vector<std::size_t>& places) {
  std::vector<double> result;
  for (const std::size_t place : places) {
    if (place < values.size()) result.push_back(values[place]);
  }
  return result;
}

}  // namespace

Result<std::vector<Observation>> translate_trials(const StudySpec& study, const StudySpec& earlier,
                                                  const std::vector<TrialRecord>& trials) {
  const auto places = places_of_objectives(study, earlier);
  if (!places) {
    return fail(ErrorKind::usage,
                fmt::format("study \"{}\" has other objectives ({}) than this one ({})",
                            earlier.name, names_of(earlier.objectives), names_of(study.objectives)),
                "/search/learn_from", "name studies with the same objectives");
  }
  const TrialRecord* baseline = baseline_of(trials);
  std::vector<Observation> observations;
  for (const TrialRecord& trial : trials) {
    if (!is_final(trial.status) || !is_compared(trial.purpose)) continue;
    // This trial was cut off while starting. A study with more time would have waited longer.
    if (may_start_longer(study, trial, baseline)) continue;
    Observation observation = to_observation(earlier, trial);
    observation.configuration = in_terms_of(study, earlier, trial.configuration);
    if (!study.space.contains(observation.configuration)) continue;
    observation.values = in_order(observation.values, *places);
    observation.standard_errors = in_order(observation.standard_errors, *places);
    observations.push_back(std::move(observation));
  }
  return observations;
}

Result<std::vector<std::vector<Observation>>> trials_of_earlier_studies(const StudySpec& study,
                                                                        const History& history) {
  std::vector<std::vector<Observation>> result;
  for (const std::string& name : study.search.learn_from) {
    if (name == study.name) continue;
    const auto record = history.study(name);
    if (!record) {
      return fail(record.error().kind,
                  fmt::format("no study \"{}\" to learn from: {}", name, record.error().message),
                  "/search/learn_from", record.error().hint);
    }
    const auto earlier = study_from_json(record->document, "/stored/" + name, study.facts);
    if (!earlier) {
      return fail(ErrorKind::store,
                  fmt::format("the stored study \"{}\" cannot be read by this version: {}", name,
                              earlier.error().text()),
                  "/search/learn_from");
    }
    const auto trials = history.trials(record->id);
    if (!trials) return tl::unexpected(trials.error());
    auto observations = translate_trials(study, *earlier, *trials);
    if (!observations) return tl::unexpected(observations.error());
    result.push_back(*std::move(observations));
  }
  return result;
}

}  // namespace steptune
