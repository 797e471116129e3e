// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/live_display.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/pause.hpp"
#include "common/text.hpp"
#include "tuner/loop/running_trial.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

std::string speed_text(const Measurement& measurement, const UnitName& unit) {
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
  std::string text =
      fmt::format("{} steps  {} {}", format_number(measurement.window_steps),
                  format_number(1.0 / measurement.seconds_per_sample), unit.per_second());
  const double half_width = measurement.relative_half_width();
  return std::isfinite(half_width) ? text + fmt::format(" +-{}", format_percent(half_width)) : text;
}

std::string purpose_words(const TrialRecord& trial) {
  switch (trial.purpose) {
    case TrialPurpose::baseline:
      return "baseline";
    case TrialPurpose::sentinel:
      return "baseline again";
    case TrialPurpose::confirm_incumbent:
      return fmt::format("confirming best, pair {}", trial.confirm_pair);
    case TrialPurpose::confirm_baseline:
      return fmt::format("confirming baseline, pair {}", trial.confirm_pair);
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

void LiveDisplay::take(const Standing& standing) {
  trials_done_ = standing.ended_search_trials();
  spent_usd_ = standing.spent_usd();
  const TrialRecord* incumbent = standing.incumbent();
  if (incumbent == nullptr) {
    best_.clear();
    return;
  }
  const std::string gain = gain_text(*incumbent, standing);
  best_ = fmt::format("best trial {}{}", incumbent->number, gain.empty() ? "" : ": " + gain);
}

void LiveDisplay::on_resumed(const Standing& standing) {
  take(standing);
  if (quiet_) return;
  printer_.print(fmt::format("continuing study \"{}\": {} trial{} done", study_.name, trials_done_,
                             trials_done_ == 1 ? "" : "s"));
}

void LiveDisplay::on_phase(const std::string& phase) {
  phase_ = phase;
  if (!quiet_ && phase == "confirming") {
    printer_.print(study_.trials == TrialsIn::attached
                       ? "confirming: best and baseline in turns, in the running program"
                       : "confirming: fresh runs of best and baseline, interleaved");
  }
}

void LiveDisplay::on_planned(const PlannedCourse& course) {
  if (quiet_) return;
  if (course.needed_s > course.time_s) {
    const double minutes = std::ceil(course.needed_s / 60.0);
    printer_.print(
        fmt::format("{} is too short to decide anything about this program: give at "
                    "least --time {:.0f}m",
                    format_duration(course.time_s), minutes));
    return;
  }
  printer_.print(fmt::format("{}: about {} trials and {} confirming pair{}",
                             format_duration(course.time_s), course.trials, course.pairs,
                             course.pairs == 1 ? "" : "s"));
}

void LiveDisplay::on_trial_started(const TrialRecord& trial) {
  if (quiet_ || printer_.smart()) return;
  const std::string again =
      trial.attempt > 1 ? fmt::format(", attempt {}", trial.attempt) : std::string();
  printer_.print(fmt::format("trial {} started ({}{}): {}", trial.number, purpose_words(trial),
                             again, configuration_text(trial.configuration, parameter_order_)));
}

void LiveDisplay::on_trial_ended(const TrialRecord& trial, const Standing& standing) {
  take(standing);
  if (quiet_) return;
  std::string line = ended_line(trial, standing);
  const std::string reason = printable_line(trial.failure, k_any_length);
  if (!printer_.smart()) {
    printer_.print(reason.empty() ? line : line + ": " + reason);
    return;
  }
  // Print the reason on a separate line, where the terminal wraps it. A reason that is cut short
  // would explain nothing.
  line += "  ";
  const std::size_t taken = display_width(line);
  const std::size_t columns = printer_.columns();
  line += elide_middle(configuration_text(trial.configuration, parameter_order_),
                       columns > taken ? columns - taken : std::size_t{0});
  printer_.print(elide_middle(line, columns));
  if (!reason.empty()) printer_.print("  " + reason);
}

std::string LiveDisplay::gain_text(const TrialRecord& trial, const Standing& standing) const {
  const TrialRecord* baseline = standing.baseline();
  if (baseline == nullptr || baseline->number == trial.number || trial.objectives.empty()) {
    return {};
  }
  const double gain = objectives_[0].gain(baseline->objectives[0], trial.objectives[0]);
  return std::isfinite(gain) ? format_ratio(gain) : std::string();
}

std::string LiveDisplay::ended_line(const TrialRecord& trial, const Standing& standing) const {
  std::string line = fmt::format("trial {} ", trial.number);
  if (!is_compared(trial.purpose)) line += fmt::format("({}) ", purpose_words(trial));
  line += with_blanks(to_text(trial.status));
  if (trial.objectives.empty()) return line;
  line += ": " + objectives_[0].text_of_trial(trial.objectives[0]);
  const double half_width = half_width_95(trial, 0);
  const double value = std::abs(trial.objectives[0]);
  if (half_width > 0.0 && value > 0.0) line += " +-" + format_percent(half_width / value);
  if (const std::string gain = gain_text(trial, standing); !gain.empty()) line += "  " + gain;
  const TrialRecord* incumbent = standing.incumbent();
  if (incumbent != nullptr && incumbent->number == trial.number) line += "  new best";
  return line;
}

std::string LiveDisplay::trial_line(const RunningTrial& live) const {
  const TrialRecord& trial = live.record();
  const std::string head = fmt::format("{:>4}  ", trial.number);
  std::string tail = "  " + speed_text(live.measurement(), unit_of(objectives_));
  tail += "  " + format_duration(loop_clock_.now_s() - live.started_s());
  if (!is_compared(trial.purpose)) tail += "  " + purpose_words(trial);
  const std::size_t taken = display_width(head) + display_width(tail);
  const std::size_t columns = printer_.columns();
  const std::size_t room =
      std::max(k_shortest_configuration, columns > taken ? columns - taken : std::size_t{0});
  return head + elide_middle(configuration_text(trial.configuration, parameter_order_), room) +
         tail;
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
  if (!best_.empty()) line += "  " + best_;
  return line;
}

void LiveDisplay::on_progress(const std::vector<const RunningTrial*>& running, double elapsed_s) {
  if (quiet_ || !printer_.smart() || screen_clock_.now_s() < next_draw_s_) return;
  next_draw_s_ = screen_clock_.now_s() + k_poll_s;
  std::vector<std::string> lines;
  // Count trials that wait for a place instead of listing them: they would fill the screen.
  std::size_t queued = 0;
  for (const RunningTrial* live : running) {
    const bool has_begun = live->record().status != TrialStatus::launching;
    if (has_begun || lines.size() < static_cast<std::size_t>(study_.runner->traits().parallel)) {
      lines.push_back(trial_line(*live));
    } else {
      ++queued;
    }
  }
  if (queued > 0) lines.push_back(fmt::format("      and {} more queued", queued));
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
