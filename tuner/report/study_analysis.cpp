// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/study_analysis.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "trial_runner/measure/report_times.hpp"

namespace steptune {
namespace {

/// With fewer failures, or fewer successes, the causes of failures cannot be estimated.
constexpr std::ptrdiff_t k_fewest_of_a_kind = 3;

/// A study's space and trials, with baseline and best.
struct AnalysedStudy {
  StudySpec spec;
  std::vector<TrialRecord> trials;
  std::vector<Point> points;              ///< encoded configurations of the trials
  const TrialRecord* baseline = nullptr;  ///< null if not measured
  const TrialRecord* best = nullptr;
};

const TrialRecord* find_trial(const std::vector<TrialRecord>& trials, std::int64_t number) {
  const auto found = std::ranges::find(trials, number, &TrialRecord::number);
  return found == trials.end() ? nullptr : &*found;
}

Result<AnalysedStudy> analysed(const StoredStudy& study, Standing standing) {
  auto spec = stored_spec(study.record);
  if (!spec) return tl::unexpected(spec.error());
  const auto recommendation = stored_recommendation(study.record);
  if (!recommendation) return tl::unexpected(recommendation.error());
  std::optional<std::int64_t> baseline;
  std::optional<std::int64_t> best;
  if (const TrialRecord* trial = standing.baseline()) baseline = trial->number;
  if (const TrialRecord* trial = standing.incumbent()) best = trial->number;
  if (*recommendation && study.record.status != StudyStatus::running) {
    best = (*recommendation)->incumbent_trial;
  }
  AnalysedStudy result{*std::move(spec), standing.take_trials(), {}};
  result.points = encoded(result.spec.space, result.trials);
  // Remove the machine's drift, because parameters did not cause it.
  for (TrialRecord& trial : result.trials)
    trial = standing.without_drift(std::move(trial));
  if (baseline) result.baseline = find_trial(result.trials, *baseline);
  if (best) result.best = find_trial(result.trials, *best);
  return result;
}

Result<AnalysedStudy> read_trials(const StoredStudy& study) {
  auto standing = read_whole_standing(study);
  if (!standing) return tl::unexpected(standing.error());
  return analysed(study, *std::move(standing));
}

/// True if every value of `a` is the same multiple of the value of `b`.
bool proportional(const TrialSamples& a, const TrialSamples& b) {
  if (!a.logarithmic || !b.logarithmic || a.samples.size() != b.samples.size()) return false;
  for (std::size_t i = 0; i < a.samples.size(); ++i) {
    const double first = a.samples.front().value - b.samples.front().value;
    const double here = a.samples[i].value - b.samples[i].value;
    if (a.samples[i].point != b.samples[i].point || std::abs(here - first) > k_rounding) {
      return false;
    }
  }
  return !a.samples.empty();
}

std::optional<EffectsModel> fitted(const SearchSpace& space, const TrialSamples& samples) {
  return EffectsModel::fit(space, samples.samples);
}

ObjectiveImportance importance_for(const AnalysedStudy& study, const ObjectiveView& view,
                                   const TrialSamples& samples) {
  const SearchSpace& space = study.spec.space;
  const auto model = fitted(space, samples);
  ObjectiveImportance result{
      view, importance_of(space, samples, model ? &*model : nullptr), {}, {}};
  result.ablation.logarithmic = samples.logarithmic;
  if (study.baseline == nullptr) {
    result.ablation.why_unknown = "the baseline has not been measured";
  } else if (study.best == nullptr) {
    result.ablation.why_unknown = "the study has no best configuration yet";
  } else if (study.best->configuration == study.baseline->configuration) {
    result.ablation.why_unknown = "the baseline is the best configuration";
  } else {
    result.ablation = ablation_path(space, samples, model ? &*model : nullptr,
                                    view.objective.direction == Direction::minimize,
                                    study.baseline->configuration, study.best->configuration);
  }
  return result;
}

void add_failures(StudyImportance& result, const AnalysedStudy& study) {
  const SearchSpace& space = study.spec.space;
  const TrialSamples samples = failure_samples(space, study.trials, study.points);
  const auto failed = std::ranges::count_if(
      samples.samples, [](const EffectSample& sample) { return sample.value > 0.0; });
  const auto sound = std::ssize(samples.samples) - failed;
  result.failed = static_cast<std::size_t>(failed);
  result.ended = samples.samples.size();
  if (failed >= k_fewest_of_a_kind && sound >= k_fewest_of_a_kind) {
    const auto model = fitted(space, samples);
    result.failure = importance_of(space, samples, model ? &*model : nullptr);
    return;
  }
  result.failure.trials = samples.samples.size();
  result.failure.logarithmic = false;
  result.failure.why_unknown =
      failed == 0 ? "no trial failed"
                  : fmt::format("{} of {} trials failed: too few {} to tell why", failed,
                                samples.samples.size(), failed < sound ? "failures" : "successes");
}

StudyImportance importance_in(const AnalysedStudy& study,
                              const std::vector<ObjectiveView>& objectives) {
  StudyImportance result;
  if (study.baseline != nullptr) result.baseline = study.baseline->number;
  if (study.best != nullptr) result.best = study.best->number;
  std::vector<TrialSamples> samples;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    samples.push_back(objective_samples(study.spec.space, study.trials, i, study.points));
    for (std::size_t before = 0; before < i; ++before) {
      if (!proportional(samples[before], samples[i]) ||
          objectives[before].objective.direction != objectives[i].objective.direction) {
        continue;
      }
      ObjectiveImportance same = result.objectives[before];
      same.view = objectives[i];
      same.follows = before;
      result.objectives.push_back(std::move(same));
      break;
    }
    if (result.objectives.size() > i) continue;
    result.objectives.push_back(importance_for(study, objectives[i], samples[i]));
  }
  add_failures(result, study);
  return result;
}

Bottleneck bottleneck_in(const AnalysedStudy& study, const StudyRecord& record,
                         const TrialRecord& trial) {
  const TrialSamples samples = step_time_samples(study.spec.space, study.trials, study.points);
  const auto model = fitted(study.spec.space, samples);
  return bottleneck_of(study.spec.space, record.document, trial, samples, model ? &*model : nullptr,
                       study.spec.planned_run.samples);
}

bool has_speed(const TrialRecord* trial) {
  return trial != nullptr && trial->measurement && trial->measurement->seconds_per_sample > 0.0;
}

}  // namespace

Result<StudyImportance> read_importance(const StoredStudy& study) {
  const auto read = read_trials(study);
  if (!read) return tl::unexpected(read.error());
  return importance_in(*read, study.objectives);
}

Result<Bottleneck> read_bottleneck(const StoredStudy& study, std::optional<std::int64_t> number) {
  const auto read = read_trials(study);
  if (!read) return tl::unexpected(read.error());
  const TrialRecord* trial = has_speed(read->best) ? read->best : read->baseline;
  if (number) {
    const auto wanted = study.history.trial(study.record.id, *number);
    if (!wanted) return tl::unexpected(wanted.error());
    trial = find_trial(read->trials, *number);
    if (!has_speed(trial)) {
      return fail(ErrorKind::not_found,
                  fmt::format("the speed of trial {} was not measured", *number), "",
                  fmt::format("'steptune show {} {}' says why", study.record.name, *number));
    }
  }
  if (!has_speed(trial)) {
    return fail(ErrorKind::not_found,
                fmt::format("the study \"{}\" has no measured trial", study.record.name), "",
                fmt::format("'steptune leaderboard {} --all' lists the trials", study.record.name));
  }
  return bottleneck_in(*read, study.record, *trial);
}

Result<StudyAnalysis> analysis_of(const StoredStudy& study, Standing standing) {
  const auto read = analysed(study, std::move(standing));
  if (!read) return tl::unexpected(read.error());
  StudyAnalysis analysis{importance_in(*read, study.objectives), std::nullopt};
  const TrialRecord* trial = has_speed(read->best) ? read->best : read->baseline;
  if (has_speed(trial)) analysis.bottleneck = bottleneck_in(*read, study.record, *trial);
  return analysis;
}

}  // namespace steptune
