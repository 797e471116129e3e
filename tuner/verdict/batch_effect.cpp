// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/batch_effect.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "common/interval.hpp"
#include "common/text.hpp"
#include "common/units.hpp"
#include "trial_runner/measure/half_widths.hpp"
#include "trial_runner/measure/quantiles.hpp"
#include "tuner/study/counted_steps.hpp"
#include "tuner/verdict/machine_drift.hpp"
#include "tuner/verdict/setting_changes.hpp"

namespace steptune {
namespace {

/// Largest difference in peak memory between launches of one configuration, as a share.
constexpr double k_memory_noise = 0.03;
/// Largest such difference in bytes: one launch may show one helper process more than another
/// launch.
constexpr double k_memory_noise_bytes = 8.0 * k_mib_bytes;

bool reports_no_samples(const TrialRecord& trial) {
  return trial.measurement && trial.measurement->samples_reported == false &&
         trial.measurement->window_steps > 0.0;
}

/// Returns the seconds per sample of the steps, without machine drift, and their relative error.
MeasuredValue step_rate(const TrialRecord& trial) {
  const Measurement& measured = *trial.measurement;
  const bool has_steps = measured.step_seconds_per_sample > 0.0;
  const double rate = has_steps ? measured.step_seconds_per_sample : measured.seconds_per_sample;
  const double half_width = has_steps ? measured.step_half_width_s : measured.half_width_s;
  const double error = half_width / k_z_95 / rate;
  // A whole run may be too short for an interval, so assume an error.
  return {without_drift(rate, trial.level),
          std::hypot(std::isfinite(error) ? error : k_noticeable_difference / k_z_95,
                     trial.level.standard_error)};
}

bool agree(double ratio, double expected) {
  return std::abs(std::log(ratio / expected)) < std::log1p(k_same_count);
}

/// Returns the last value of this metric; nullopt if it is missing or not positive.
std::optional<double> printed_rate(const Measurement& measurement, const std::string& name) {
  const auto found = measurement.metrics.find(name);
  return found != measurement.metrics.end() && found->second > 0.0 ? std::optional(found->second)
                                                                   : std::nullopt;
}

/// True for names such as `samples/s`, `images per second`, `train_tokens_per_sec`.
bool is_rate_of_samples(const std::string& name) {
  static const std::set<std::string> k_units{
      "sample",   "samples",  "image",     "images", "img",  "imgs",  "example",
      "examples", "sequence", "sequences", "seq",    "seqs", "token", "tokens"};
  static const std::set<std::string> k_seconds{"s", "sec", "second"};
  std::vector<std::string> words{""};
  for (const char letter : lower_case(name)) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
      words.back() += letter;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  std::erase(words, "per");
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (k_units.contains(words[i]) && k_seconds.contains(words[i + 1])) return true;
  return false;
}

/// Returns the trial's samples per step divided by the baseline's, computed from printed rates.
std::optional<double> ratio_by_rates(const TrialRecord& trial, const TrialRecord& baseline,
                                     double step_ratio) {
  for (const auto& [name, rate] : trial.measurement->metrics) {
    if (!is_rate_of_samples(name) || !(rate > 0.0)) continue;
    if (const auto former = printed_rate(*baseline.measurement, name)) {
      return rate / *former * step_ratio;
    }
  }
  return std::nullopt;
}

std::optional<double> training_batch(const HookLog& hook) {
  std::optional<double> size;
  for (const HookedLoader& loader : hook.loaders()) {
    if (loader.training != true || !loader.batch_size) continue;
    if (size) return std::nullopt;
    size = static_cast<double>(*loader.batch_size);
  }
  return size;
}

/// Returns the trial's batch size divided by the baseline's, as the hook saw both in data loaders.
std::optional<double> ratio_by_loader(const HookLog* hook, const TrialRecord& baseline) {
  if (hook == nullptr || baseline.hook.is_null()) return std::nullopt;
  const auto size = training_batch(*hook);
  const auto former = training_batch(HookLog::from_json(baseline.hook));
  return size && former && *former > 0.0 ? std::optional(*size / *former) : std::nullopt;
}

/// Returns the parameters of `planned_run.batch_size` that differ: `batch_size=128`.
std::string counted_difference(const StudySpec& study, const Configuration& configuration,
                               const Configuration& baseline) {
  std::string text;
  for (const std::string& name : document::identifiers_in(study.planned_run.batch_size->text())) {
    const Value* value = configuration.find(name);
    const Value* former = baseline.find(name);
    if (value == nullptr || (former != nullptr && *former == *value)) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, to_text(*value));
  }
  return text;
}

bool differ_in_batch_alone(const StudySpec& study, Configuration configuration,
                           Configuration baseline) {
  for (const std::string& name : document::identifiers_in(study.planned_run.batch_size->text())) {
    configuration.erase(name);
    baseline.erase(name);
  }
  return configuration == baseline;
}

/// Sets the evidence from the loader or a printed rate. Without these, uses step time, memory and
/// length.
void set_evidence(const TrialRecord& trial, const TrialRecord& baseline, const HookLog* hook,
                  BatchEffect& effect) {
  const double times = effect.samples / effect.baseline_samples;
  const double step_ratio = effect.step_s / effect.baseline_step_s;
  const auto set_from_ratio = [&](const std::optional<double>& ratio, BatchEvidence by) {
    if (!ratio || !(agree(*ratio, times) || agree(*ratio, 1.0))) return false;
    effect.shows_samples = true;
    if (agree(*ratio, times)) effect.evidence = by;
    return true;
  };
  if (set_from_ratio(ratio_by_loader(hook, baseline), BatchEvidence::loader)) return;
  if (set_from_ratio(ratio_by_rates(trial, baseline, step_ratio), BatchEvidence::rate)) return;
  const double direction = times > 1.0 ? 1.0 : -1.0;
  // If other settings differ, too, they may hide the effect's direction. So any change counts.
  const auto grows = [&](double ratio, double noise) {
    const double growth = std::log(ratio);
    return (effect.is_alone ? direction * growth : std::abs(growth)) > noise;
  };
  if (grows(step_ratio, effect.noise)) {
    effect.evidence = BatchEvidence::step_time;
  } else if (effect.memory_bytes && effect.baseline_memory_bytes &&
             std::abs(*effect.memory_bytes - *effect.baseline_memory_bytes) >
                 k_memory_noise_bytes &&
             grows(*effect.memory_bytes / *effect.baseline_memory_bytes, k_memory_noise)) {
    effect.evidence = BatchEvidence::memory;
  } else if (trial.measurement->whole_run && baseline.measurement->whole_run) {
    const double steps = trial.measurement->total_samples / effect.samples;
    const double former = baseline.measurement->total_samples / effect.baseline_samples;
    if (!agree(steps / former, 1.0)) effect.evidence = BatchEvidence::length;
  }
}

std::string memory_text(const BatchEffect& effect) {
  if (!effect.memory_bytes || !effect.baseline_memory_bytes) return "output";
  return fmt::format("memory ({:.4g} MiB, baseline {:.4g} MiB) nor output",
                     *effect.memory_bytes / k_mib_bytes,
                     *effect.baseline_memory_bytes / k_mib_bytes);
}

}  // namespace

bool has_given_samples(const HookLog& hook) {
  const Json& program = hook.event("program");
  const auto by = program.find("samples_by");
  return by != program.end() && *by == "given";
}

std::optional<BatchEffect> batch_effect(const StudySpec& study, const TrialRecord& trial,
                                        const TrialRecord& baseline,
                                        const LaunchVariation& launches, const HookLog* hook) {
  if (!study.planned_run.batch_size || !reports_no_samples(trial) ||
      !reports_no_samples(baseline)) {
    return std::nullopt;
  }
  const auto samples = samples_per_count(study, trial.configuration);
  const auto baseline_samples = samples_per_count(study, baseline.configuration);
  if (!samples || !baseline_samples || *samples == *baseline_samples) return std::nullopt;
  const MeasuredValue rate = step_rate(trial);
  const MeasuredValue baseline_rate = step_rate(baseline);
  if (!(rate.value > 0.0) || !(baseline_rate.value > 0.0)) {
    return std::nullopt;
  }
  BatchEffect effect;
  effect.is_alone = differ_in_batch_alone(study, trial.configuration, baseline.configuration);
  effect.setting = counted_difference(study, trial.configuration, baseline.configuration);
  effect.samples = *samples;
  effect.baseline_samples = *baseline_samples;
  effect.step_s = rate.value * *samples;
  effect.baseline_step_s = baseline_rate.value * *baseline_samples;
  effect.noise = std::hypot(
      k_z_95 * std::hypot(rate.error, baseline_rate.error),
      student_quantile_95(launches.degrees_of_freedom) * std::sqrt(2.0) * launches.relative);
  effect.memory_bytes = trial.peak_memory_bytes;
  effect.baseline_memory_bytes = baseline.peak_memory_bytes;
  set_evidence(trial, baseline, hook, effect);
  return effect;
}

BatchApplied batch_applied(const StudySpec& study, const std::vector<TrialRecord>& trials,
                           const TrialRecord* baseline, const LaunchVariation& launches) {
  if (baseline == nullptr || !study.planned_run.batch_size) return BatchApplied::unknown;
  BatchApplied applied = BatchApplied::unknown;
  for (const TrialRecord& trial : trials) {
    const bool ended = trial.status == TrialStatus::completed ||
                       trial.status == TrialStatus::stopped_early ||
                       trial.status == TrialStatus::infeasible;
    if (!ended || !is_compared(trial.purpose)) continue;
    const auto effect = batch_effect(study, trial, *baseline, launches);
    if (!effect || !(effect->is_alone || effect->shows_samples)) continue;
    if (effect->evidence != BatchEvidence::nothing) return BatchApplied::yes;
    const double times = effect->samples / effect->baseline_samples;
    if (times >= k_clear_ratio || times <= 1.0 / k_clear_ratio) applied = BatchApplied::no;
  }
  return applied;
}

std::optional<std::string> why_not_applied(const BatchEffect& effect, BatchApplied applied) {
  if (effect.evidence == BatchEvidence::nothing) {
    if (effect.shows_samples) {
      return fmt::format(
          "{} did not change the samples of a step that the program reports: not applied",
          effect.setting);
    }
    if (applied == BatchApplied::yes && !effect.is_alone) return std::nullopt;
    return fmt::format("{} changed neither step time ({}, baseline {}) nor {}: not applied",
                       effect.setting, format_duration(effect.step_s),
                       format_duration(effect.baseline_step_s), memory_text(effect));
  }
  if (effect.is_alone || effect.shows_samples || applied != BatchApplied::no) return std::nullopt;
  return fmt::format("{} counts as not applied: a trial that changed nothing else had no effect",
                     effect.setting);
}

std::optional<std::string> assumed_samples_note(const StudySpec& study,
                                                const std::vector<TrialRecord>& trials,
                                                const TrialRecord& recommended,
                                                const TrialRecord& baseline,
                                                const LaunchVariation& launches) {
  if (!study.planned_run.batch_size || !reports_no_samples(recommended)) return std::nullopt;
  const std::string setting =
      counted_difference(study, recommended.configuration, baseline.configuration);
  const auto samples = samples_per_count(study, recommended.configuration);
  if (setting.empty() || !samples) return std::nullopt;
  const auto effect = batch_effect(study, recommended, baseline, launches);
  std::string shown;
  if (effect && effect->evidence == BatchEvidence::rate) return std::nullopt;
  if (effect && effect->evidence == BatchEvidence::step_time && effect->is_alone) {
    shown = fmt::format("; its steps take {} in place of {}", format_duration(effect->step_s),
                        format_duration(effect->baseline_step_s));
  } else if (batch_applied(study, trials, &baseline, launches) != BatchApplied::yes) {
    shown = "; no trial that changed this alone has shown an effect";
  }
  return fmt::format(
      "samples of a step were assumed: {:g} with {}, as the program reports only steps{}. To be "
      "sure, add steptune.report(step=STEP, samples=SAMPLES) to its loop (docs/reporting.md)",
      *samples, setting, shown);
}

}  // namespace steptune
