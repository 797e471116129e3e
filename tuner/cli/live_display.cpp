// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/live_display.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

constexpr double k_redraw_interval_s = 0.1;
constexpr std::size_t k_narrowest_configuration = 12;

std::string speed_text(const Measurement& measurement) {
  switch (measurement.status) {
    case MeasurementStatus::no_reports:
      return "no reports yet";
    case MeasurementStatus::warming_up:
      return "warming up";
    case MeasurementStatus::not_steady:
      return "not steady yet";
    case MeasurementStatus::steady:
      break;
  }
  std::string text = fmt::format("{} steps  {} samples/s", format_number(measurement.window_steps),
                                 format_number(1.0 / measurement.seconds_per_sample));
  const double half_width = measurement.relative_half_width();
  return std::isfinite(half_width) ? text + fmt::format(" +-{}", format_percent(half_width)) : text;
}

std::string status_words(const TrialRecord& trial) {
  std::string text = to_text(trial.status);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string purpose_words(const TrialRecord& trial) {
  switch (trial.purpose) {
    case TrialPurpose::baseline:
      return "baseline";
    case TrialPurpose::confirm_incumbent:
      return fmt::format("best again, pair {}", trial.confirm_pair);
    case TrialPurpose::confirm_baseline:
      return fmt::format("baseline again, pair {}", trial.confirm_pair);
    case TrialPurpose::hint:
    case TrialPurpose::search:
      break;
  }
  return trial.origin;
}

}  // namespace

LiveDisplay::LiveDisplay(LinePrinter& printer, const Clock& screen_clock, const Clock& loop_clock,
                         const StudySpec& study, bool quiet)
    : printer_(printer),
      screen_clock_(screen_clock),
      loop_clock_(loop_clock),
      study_(study),
      quiet_(quiet),
      objectives_(objective_views(study)),
      parameter_order_(parameter_order(study.document)) {}

void LiveDisplay::resume(const std::vector<TrialRecord>& trials) {
  for (const TrialRecord& trial : trials) {
    if (!is_final(trial.status)) continue;
    count(trial);
    if (trial.status != TrialStatus::completed || is_confirmation(trial.purpose) ||
        trial.objectives.empty() || !std::isfinite(trial.objectives[0])) {
      continue;
    }
    if (!incumbent_ || objectives_[0].better(trial.objectives[0], incumbent_->objectives[0])) {
      incumbent_ = trial;
    }
  }
}

void LiveDisplay::count(const TrialRecord& trial) {
  spent_usd_ += trial.spent_usd;
  if (!is_confirmation(trial.purpose)) ++trials_done_;
  if (trial.purpose == TrialPurpose::baseline && !trial.objectives.empty()) baseline_ = trial;
}

void LiveDisplay::on_phase(const std::string& phase) {
  phase_ = phase;
  if (!quiet_ && phase == "confirm") {
    printer_.print("confirming: best and baseline once more, interleaved");
  }
}

void LiveDisplay::on_trial_started(const TrialRecord& trial) {
  if (quiet_ || printer_.smart()) return;
  const std::string again =
      trial.attempt > 1 ? fmt::format(", attempt {}", trial.attempt) : std::string();
  printer_.print(fmt::format("trial {} started ({}{}): {}", trial.number, purpose_words(trial),
                             again, configuration_text(trial.configuration, parameter_order_)));
}

void LiveDisplay::on_trial_ended(const TrialRecord& trial, bool new_incumbent) {
  count(trial);
  if (new_incumbent) incumbent_ = trial;
  if (quiet_) return;
  const std::string line = ended_line(trial, new_incumbent);
  printer_.print(printer_.smart() ? elide_middle(line, printer_.columns()) : line);
}

std::string LiveDisplay::gain_text(const TrialRecord& trial) const {
  if (!baseline_ || baseline_->number == trial.number || trial.objectives.empty()) return {};
  const double gain = objectives_[0].gain(baseline_->objectives[0], trial.objectives[0]);
  return std::isfinite(gain) ? format_ratio(gain) : std::string();
}

std::string LiveDisplay::ended_line(const TrialRecord& trial, bool new_incumbent) const {
  std::string line = fmt::format("trial {} ", trial.number);
  if (is_confirmation(trial.purpose)) line += fmt::format("({}) ", purpose_words(trial));
  line += status_words(trial);
  if (!trial.objectives.empty()) {
    line += ": " + objectives_[0].text(trial.objectives[0]);
    const double half_width = half_width_95(trial, 0);
    const double value = std::abs(trial.objectives[0]);
    if (half_width > 0.0 && value > 0.0) line += " +-" + format_percent(half_width / value);
    if (const std::string gain = gain_text(trial); !gain.empty()) line += "  " + gain;
    if (new_incumbent) line += "  new best";
  }
  if (!trial.failure.empty()) line += ": " + printable_line(trial.failure, 200);
  if (printer_.smart()) {
    line += "  " + configuration_text(trial.configuration, parameter_order_);
  }
  return line;
}

std::string LiveDisplay::trial_line(const LiveTrial& live) const {
  const std::string head = fmt::format("{:>4}  ", live.trial->number);
  std::string tail = "  ";
  tail += live.measurement == nullptr ? "starting" : speed_text(*live.measurement);
  tail += "  " + format_duration(loop_clock_.now_s() - live.started_s);
  if (is_confirmation(live.trial->purpose)) tail += "  " + purpose_words(*live.trial);
  const std::size_t taken = display_width(head) + display_width(tail);
  const std::size_t columns = printer_.columns();
  const std::size_t room =
      std::max(k_narrowest_configuration, columns > taken ? columns - taken : std::size_t{0});
  return head +
         elide_middle(configuration_text(live.trial->configuration, parameter_order_), room) + tail;
}

std::string LiveDisplay::study_line(double elapsed_s) const {
  const BudgetSpec& budget = study_.budget;
  std::string line = phase_.empty() ? "" : phase_ + "  ";
  line += fmt::format("{}{} trials", trials_done_,
                      budget.trials ? fmt::format("/{}", *budget.trials) : std::string());
  line += "  " + format_duration(elapsed_s);
  if (budget.time_s) line += " of " + format_duration(*budget.time_s);
  if (spent_usd_ > 0.0 || budget.cost_usd) {
    line += "  " + format_usd(spent_usd_);
    if (budget.cost_usd) line += " of " + format_usd(*budget.cost_usd);
  }
  if (incumbent_) {
    const std::string gain = gain_text(*incumbent_);
    line += fmt::format("  best trial {}{}", incumbent_->number, gain.empty() ? "" : ": " + gain);
  }
  return line;
}

void LiveDisplay::on_progress(const std::vector<LiveTrial>& running, double elapsed_s) {
  if (quiet_ || !printer_.smart() || screen_clock_.now_s() < next_draw_s_) return;
  next_draw_s_ = screen_clock_.now_s() + k_redraw_interval_s;
  std::vector<std::string> lines;
  // What was handed over ahead of its turn would fill the screen.
  std::size_t waiting = 0;
  for (const LiveTrial& live : running) {
    const bool has_begun = live.trial->status != TrialStatus::launching;
    if (has_begun || lines.size() < static_cast<std::size_t>(study_.runner.parallel)) {
      lines.push_back(trial_line(live));
    } else {
      ++waiting;
    }
  }
  if (waiting > 0) lines.push_back(fmt::format("      and {} more waiting", waiting));
  lines.push_back(study_line(elapsed_s));
  printer_.status(lines);
}

void LiveDisplay::on_warning(const std::string& message) {
  printer_.print("steptune: warning: " + printable_line(message, 1000));
}

void LiveDisplay::finish() {
  printer_.clear();
}

}  // namespace steptune
