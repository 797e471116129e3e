// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/plan_notes.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/live/live_runner.hpp"
#include "tuner/loop/launch_variation.hpp"
#include "tuner/loop/objectives.hpp"
#include "tuner/loop/planned_time.hpp"
#include "tuner/loop/speed_up.hpp"

namespace steptune {
namespace {

std::optional<double> noise_scale(const TrialRecord* trial) {
  if (trial == nullptr || !trial->measurement) return std::nullopt;
  const auto found = trial->measurement->metrics.find(k_gradient_noise_scale);
  if (found == trial->measurement->metrics.end() || !(found->second > 0.0)) return std::nullopt;
  return found->second;
}

/// Samples per step of the recommended configuration and of the baseline, where the plan knows them
/// and they differ.
struct BatchChange {
  double batch = 0.0;
  double former = 0.0;
};

std::optional<BatchChange> batch_change(const StudySpec& study, const Standing& standing,
                                        const Recommendation& recommendation) {
  const auto& samples_per_step = standing.rules().samples_per_step;
  const bool timed = std::ranges::any_of(
      study.objectives, [](const Objective& objective) { return objective.is_timed(); });
  if (!samples_per_step || !timed) return std::nullopt;
  const auto batch = samples_per_step(recommendation.configuration);
  const auto former = samples_per_step(study.baseline);
  if (!batch || !former || *batch == *former) return std::nullopt;
  return BatchChange{*batch, *former};
}

std::optional<double> known_noise_scale(const Standing& standing,
                                        const Recommendation& recommendation) {
  const auto scale = noise_scale(standing.baseline());
  return scale ? scale : noise_scale(standing.find(recommendation.incumbent_trial));
}

/// `; the planned run then takes 19.3 h to 25.1 h`, and whether that leaves anything of the gain.
std::string scaled_plan(const StudySpec& study, const Recommendation& recommendation) {
  const auto time = time_objective(study);
  if (!study.planned_run.samples || !time || *time >= recommendation.incumbent_objectives.size()) {
    return {};
  }
  const double expected_s = recommendation.incumbent_objectives[*time];
  std::string text = fmt::format("; the planned run then takes {} to {}",
                                 format_duration(recommendation.least_samples_ratio * expected_s),
                                 format_duration(recommendation.most_samples_ratio * expected_s));
  const bool known = *time < recommendation.baseline_objectives.size();
  if (known &&
      recommendation.most_samples_ratio * expected_s >= recommendation.baseline_objectives[*time]) {
    text += ", and may be no faster than the baseline's";
  }
  return text;
}

void add_batch_note(const StudySpec& study, const Standing& standing,
                    const Recommendation& recommendation, std::vector<std::string>& notes) {
  const auto change = batch_change(study, standing, recommendation);
  if (!change) return;
  if (const auto scale = known_noise_scale(standing, recommendation)) {
    notes.push_back(fmt::format(
        "batch {:g} in place of {:g} needs {:.2f} to {:.2f} times the samples: gradient noise "
        "scale {:g} as reported, which grows during training{}",
        change->batch, change->former, recommendation.least_samples_ratio,
        recommendation.most_samples_ratio, *scale, scaled_plan(study, recommendation)));
  } else {
    notes.push_back(fmt::format(
        "batch {:g} in place of {:g}: the plan takes it to need as many samples; report "
        "\"{}\", or compare the loss at the end of both",
        change->batch, change->former, k_gradient_noise_scale));
  }
}

void add_deadline_note(const StudySpec& study, const Recommendation& recommendation,
                       std::vector<std::string>& notes) {
  const auto time = time_objective(study);
  if (!study.planned_run.deadline_s || !time) return;
  if (*time >= recommendation.incumbent_objectives.size() ||
      *time >= recommendation.incumbent_half_widths.size()) {
    return;
  }
  const double expected_s = recommendation.incumbent_objectives[*time];
  const double longest_s = expected_s + recommendation.incumbent_half_widths[*time];
  if (!(longest_s > *study.planned_run.deadline_s)) return;
  notes.push_back(
      fmt::format("the deadline of {} may be missed: {} is expected, up to {} (95 % interval)",
                  format_duration(*study.planned_run.deadline_s), format_duration(expected_s),
                  format_duration(longest_s)));
}

/// Programs that end by themselves before the planned run does.
void add_whole_run_note(const StudySpec& study, const Standing& standing,
                        const Recommendation& recommendation, std::vector<std::string>& notes) {
  const TrialRecord* trial = standing.find(recommendation.incumbent_trial);
  if (trial == nullptr || !is_whole_run(*trial) || !all_timed(study)) return;
  const PlannedRun& plan = study.planned_run;
  if (plan.samples && !is_longer_than(plan, *trial->measurement)) return;
  notes.push_back(fmt::format(
      "its program ends by itself after {:.0f} samples: whole runs of that length were compared, "
      "and a longer one is extrapolated from them{}",
      trial->measurement->total_samples,
      plan.samples ? "" : "; \"planned_run.samples\" says how long it is to be"));
}

/// Where the trials had the data from, which the study names.
void add_data_note(const Standing& standing, const Recommendation& recommendation,
                   std::vector<std::string>& notes) {
  const TrialRecord* trial = standing.find(recommendation.incumbent_trial);
  if (trial == nullptr) return;
  const auto cache = trial->placement.find(k_page_cache_placement);
  if (cache == trial->placement.end()) return;
  notes.push_back(cache->second.starts_with("cold")
                      ? "trials read the data from storage, as the first epoch of a run does"
                      : "trials found the data in memory where it fits, as the second epoch of a "
                        "run does; \"measure.cache\": \"cold\" measures the first");
}

/// `num_workers=4 num_threads=2`: what a configuration has other than the baseline's.
std::string difference_text(const Configuration& configuration, const Configuration& baseline) {
  std::string text;
  for (const auto& [name, value] : configuration.values()) {
    const auto same = baseline.values().find(name);
    if (same != baseline.values().end() && same->second == value) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, to_text(value));
  }
  return text;
}

/// Fresh runs count where a running program has shown something else.
void add_live_notes(const StudySpec& study, const Standing& standing,
                    const Recommendation& recommendation, std::vector<std::string>& notes) {
  const TrialRecord* baseline = standing.baseline();
  if (study.trials != TrialsIn::live || baseline == nullptr) return;
  for (const FinalistResult& finalist : recommendation.finalists) {
    const TrialRecord* trial = standing.find(finalist.trial);
    if (trial == nullptr || !trial->placement.contains(k_shared_program)) continue;
    const SpeedUp live = speed_up_of_trials(study, *trial, *baseline);
    const SpeedUp& fresh = finalist.speed_up;
    if (!(live.low > fresh.high) && !(live.high < fresh.low)) continue;
    notes.push_back(
        fmt::format("{} was {:.2f} ({:.2f}-{:.2f}) times as fast in the running program and {:.2f} "
                    "({:.2f}-{:.2f}) in fresh processes, which count",
                    difference_text(trial->configuration, baseline->configuration), live.ratio,
                    live.low, live.high, fresh.ratio, fresh.low, fresh.high));
  }
}

}  // namespace

void set_samples_ratio(const StudySpec& study, const Standing& standing,
                       Recommendation& recommendation) {
  const auto change = batch_change(study, standing, recommendation);
  const auto scale = known_noise_scale(standing, recommendation);
  if (!change || !scale) return;
  const double ratio = (1.0 + change->batch / *scale) / (1.0 + change->former / *scale);
  recommendation.least_samples_ratio = std::min(1.0, ratio);
  recommendation.most_samples_ratio = std::max(1.0, ratio);
}

std::optional<std::string> drift_note(const MachineDrift& drift) {
  if (!drift.is_significant()) return std::nullopt;
  const double log_ratio = drift.largest_log_ratio();
  return fmt::format(
      "the machine became {:.0f} % {} during the search: trials are compared as if it had not, "
      "using {} runs of the baseline",
      100.0 * std::abs(std::expm1(log_ratio)), log_ratio > 0.0 ? "slower" : "faster", drift.runs());
}

std::vector<std::string> plan_notes(const StudySpec& study, const Standing& standing,
                                    const Recommendation& recommendation) {
  std::vector<std::string> notes = unseen_phases(study.planned_run, standing.trials());
  add_deadline_note(study, recommendation, notes);
  add_whole_run_note(study, standing, recommendation, notes);
  add_data_note(standing, recommendation, notes);
  add_batch_note(study, standing, recommendation, notes);
  add_live_notes(study, standing, recommendation, notes);
  if (auto note = drift_note(standing.drift())) notes.push_back(*std::move(note));
  return notes;
}

}  // namespace steptune
