// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/trial_reports.hpp"

#include "tuner/study/counted_steps.hpp"

namespace steptune {
namespace {

MeasureOptions measure_options(const StudySpec& study, const Configuration& configuration,
                               const TrialTargets& targets, double started_s,
                               double program_startup_s) {
  MeasureOptions options;
  options.started_s = started_s;
  options.before_start_s = program_startup_s;
  options.samples_per_step = samples_per_count(study, configuration);
  options.buffered_steps = buffered_steps(study, configuration);
  options.target_half_width = targets.measure.target_half_width;
  options.usual_variance_s = targets.usual_variance_s;
  options.in_turns = targets.interleaved_round > 0;
  return options;
}

}  // namespace

TrialReports::TrialReports(const StudySpec& study, const Configuration& configuration,
                           const TrialTargets& targets, double started_s, double program_startup_s)
    : study_(&study),
      started_s_(started_s),
      program_startup_s_(program_startup_s),
      measurer_(measure_options(study, configuration, targets, started_s, program_startup_s)),
      tracer_(started_s, samples_per_count(study, configuration)),
      progress_(samples_per_count(study, configuration)),
      guards_(study.guards),
      progressed_s_(started_s) {}

bool TrialReports::add(const Report& report) {
  reported_s_ = report.received_s;
  if (report.step || report.samples || report.phase) progressed_s_ = report.received_s;
  for (const std::string& event : report.hook_events)
    hook_.add(event);
  measurer_.add(report);
  // The following objects track the counters of one process, so they get the reports of rank 0
  // only.
  if (report.global_rank.value_or(0) != 0) return false;
  if (report.phase) {
    in_phase_ = !report.phase->seconds;
  } else if (report.step || report.samples) {
    in_phase_ = false;
  }
  tracer_.add(report);
  const bool starts_again = progress_.add(report);
  // The guards' values and the turns are from an earlier training, which does not count.
  if (starts_again) {
    guards_ = GuardWindows(study_->guards);
    turns_.clear();
  }
  guards_.add(measurer_.current(), report);
  return starts_again;
}

void TrialReports::paused(const TrialPaused& event) {
  const auto latest = measurer_.latest();
  if (!event.resumes && latest) {
    turns_.push_back({latest->samples, latest->received_s - latest->phase_s});
  }
  paused_since_s_ = event.resumes ? std::nullopt : std::optional(event.time_s);
  paused_s_ = event.paused_s;
}

bool TrialReports::has_reported_progress() const {
  return measurement().status != MeasurementStatus::no_reports || progress_.has_begun();
}

}  // namespace steptune
