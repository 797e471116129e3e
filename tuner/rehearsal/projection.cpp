// SPDX-License-Identifier: Apache-2.0
#include "tuner/rehearsal/projection.hpp"

#include <algorithm>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "tuner/history/history.hpp"

namespace steptune {
namespace {

/// Start of each rehearsal. Job names contain the date, and random values of a job depend on its
/// name. A fixed date makes the figures the same every day.
constexpr double k_rehearsed_wall_s = 1'800'000'000.0;

struct NamedSpeed {
  SpeedModel model;
  std::string origin;
};

/// Returns the trials of an earlier run of this study; none if they cannot be read.
std::vector<TrialRecord> earlier_trials(const StudySpec& study,
                                        const std::filesystem::path& database) {
  std::error_code ignored;
  if (!std::filesystem::exists(database, ignored)) return {};
  auto history = History::open_for_reading(database);
  if (!history) return {};
  const auto record = history->study(study.name);
  if (!record || record->fingerprint != study.fingerprint) return {};
  auto trials = history->trials(record->id);
  return trials ? *std::move(trials) : std::vector<TrialRecord>{};
}

Result<NamedSpeed> speed_of(const StudySpec& study, const ProjectionOptions& options) {
  if (!options.seconds_per_sample.empty()) {
    auto model = expressed_speed(study, options.seconds_per_sample);
    if (!model) return tl::unexpected(model.error());
    return NamedSpeed{*std::move(model),
                      fmt::format("{} seconds per sample", options.seconds_per_sample)};
  }
  if (auto model = recorded_speed(earlier_trials(study, options.database))) {
    return NamedSpeed{*std::move(model), "measured by an earlier run of this study"};
  }
  return NamedSpeed{constant_speed(study), "0.1 s a step, assumed: give --seconds-per-sample"};
}

Estimate range_of(const std::vector<RehearsedTuning>& tunings,
                  double (*figure)(const RehearsedTuning&)) {
  Estimate range{0.0, INFINITY, -INFINITY};
  for (const RehearsedTuning& tuning : tunings) {
    const double value = figure(tuning);
    range.mean += value / static_cast<double>(tunings.size());
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
  }
  return range;
}

/// Returns each warning once. Warnings about single trials differ between rehearsals, so returns
/// only their number and one example.
std::vector<std::string> warnings_of(const std::vector<RehearsedTuning>& tunings) {
  std::vector<std::string> warnings;
  std::vector<std::string> of_trials;
  for (const RehearsedTuning& tuning : tunings) {
    for (const std::string& warning : tuning.warnings) {
      if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(warning);
    }
    of_trials.insert(of_trials.end(), tuning.trial_warnings.begin(), tuning.trial_warnings.end());
  }
  if (of_trials.size() == 1) warnings.push_back(of_trials.front());
  if (of_trials.size() > 1) {
    warnings.push_back(fmt::format("{} remarks on single trials in {} rehearsals, such as: {}",
                                   of_trials.size(), tunings.size(), of_trials.front()));
  }
  return warnings;
}

std::string whole(double number) {
  return fmt::format("{:.0f}", number);
}

std::string tenths(double number) {
  return fmt::format("{:.1f}", number);
}

std::string ranged(const Estimate& range, std::string (*format)(double)) {
  std::string text = format(range.mean);
  const std::string low = format(range.low);
  const std::string high = format(range.high);
  if (low != high) text += fmt::format("  ({} to {})", low, high);
  return text;
}

}  // namespace

Result<Projection> project_tuning(const StudySpec& study, const ProjectionOptions& options) {
  const auto speed = speed_of(study, options);
  if (!speed) return tl::unexpected(speed.error());
  std::vector<RehearsedTuning> tunings;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    auto tuning = rehearse_tuning(study, speed->model, static_cast<std::uint64_t>(repeat) + 1,
                                  k_rehearsed_wall_s);
    if (!tuning) return tl::unexpected(tuning.error());
    tunings.push_back(*std::move(tuning));
  }
  Projection projection;
  projection.speeds = speed->origin;
  projection.repeats = options.repeats;
  projection.duration_s = range_of(tunings, [](const auto& tuning) { return tuning.duration_s; });
  if (study.runner->traits().has_price) {
    projection.usd = range_of(tunings, [](const auto& tuning) { return tuning.bill.usd; });
    projection.not_training_usd =
        range_of(tunings, [](const auto& tuning) { return tuning.bill.not_training_usd; });
  }
  if (const auto& waiting = study.search.waiting_per_hour) {
    const Estimate& duration_s = projection.duration_s;
    projection.waiting_usd =
        Estimate{usage_usd(*waiting, duration_s.mean), usage_usd(*waiting, duration_s.low),
                 usage_usd(*waiting, duration_s.high)};
  }
  projection.trials = range_of(tunings, [](const auto& tuning) { return double(tuning.trials); });
  projection.cold_starts =
      range_of(tunings, [](const auto& tuning) { return double(tuning.bill.cold_starts); });
  projection.warm_starts =
      range_of(tunings, [](const auto& tuning) { return double(tuning.bill.warm_starts); });
  if (tunings.front().bill.machine_hours) {
    projection.machine_hours = range_of(
        tunings, [](const auto& tuning) { return tuning.bill.machine_hours.value_or(0.0); });
  }
  projection.warnings = warnings_of(tunings);
  return projection;
}

std::string projection_text(const StudySpec& study, const Projection& projection) {
  std::string text = fmt::format(
      "tuning \"{}\" on {}, simulated {}\n", study.name, study.runner->kind().title(),
      projection.repeats == 1 ? std::string("once") : fmt::format("{} times", projection.repeats));
  text += fmt::format("speeds    {}\n", projection.speeds);
  text += fmt::format("trials    {}\n", ranged(projection.trials, whole));
  text += fmt::format("duration  {}\n", ranged(projection.duration_s, format_duration));
  if (projection.machine_hours) {
    text += fmt::format("machines  {} machine-hours\n", ranged(*projection.machine_hours, tenths));
  }
  if (projection.usd && projection.not_training_usd) {
    text += fmt::format("bill      {}", ranged(*projection.usd, format_usd));
    if (study.budget.cost_usd)
      text += fmt::format(", budget {}", format_usd(*study.budget.cost_usd));
    text += fmt::format("\noverhead  {} of the bill: machines that do not train\n",
                        ranged(*projection.not_training_usd, format_usd));
  }
  if (projection.waiting_usd) {
    text += fmt::format("waiting   {} at {} an hour\n", ranged(*projection.waiting_usd, format_usd),
                        format_usd(study.search.waiting_per_hour.value_or(0.0)));
  }
  text += fmt::format("starts    {} cold, {} warm\n", ranged(projection.cold_starts, whole),
                      ranged(projection.warm_starts, whole));
  for (const std::string& warning : projection.warnings)
    text += fmt::format("note      {}\n", warning);
  return text;
}

}  // namespace steptune
