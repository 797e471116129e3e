// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/trial_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/interval.hpp"
#include "common/text.hpp"
#include "trial_runner/measure/report_times.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/leaderboard.hpp"
#include "tuner/report/machine_hours.hpp"
#include "tuner/report/machine_text.hpp"
#include "tuner/report/step_plot.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/study/unit_name.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_fact_indent = 15;

class FactLines {
 public:
  explicit FactLines(std::size_t width) : width_(width) {}

  void add(const std::string& name, const std::string& text) {
    if (!text.empty()) text_ += wrapped_entry(line(name, text), width_, k_fact_indent);
  }
  /// Adds a fact without wrapping it, because users copy it as a whole or its line has its own
  /// layout.
  void add_verbatim(const std::string& name, const std::string& text) {
    if (!text.empty()) text_ += line(name, text) + '\n';
  }
  /// Adds a fact of several lines, each ending with a newline.
  void add_lines(const std::string& name, const std::string& lines,
                 void (FactLines::*add_one)(const std::string&,
                                            const std::string&) = &FactLines::add) {
    std::string title = name;
    for (const std::string_view one : split_lines(lines)) {
      (this->*add_one)(title, std::string(one));
      title.clear();
    }
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static std::string line(const std::string& name, const std::string& text) {
    return fmt::format("{:<14} {}", name, text);
  }

  std::size_t width_;
  std::string text_;
};

std::string objective_text(const TrialRecord& trial, const TrialRecord* baseline,
                           const ObjectiveView& view, std::size_t i) {
  const double value = trial.objectives[i];
  std::string text = view.text(value);
  const double half_width = half_width_95(trial, i);
  if (half_width > 0.0 && value != 0.0) {
    text += fmt::format(" +-{}", format_percent(half_width / std::abs(value)));
  }
  if (baseline != nullptr && baseline->number != trial.number && i < baseline->objectives.size()) {
    const double gain = view.gain(baseline->objectives[i], value);
    if (std::isfinite(gain))
      text += fmt::format("  (gain {} over the baseline)", format_ratio(gain));
  }
  return text;
}

std::string phase_text(const std::string& name, const PhaseEstimate& phase, const UnitName& unit) {
  std::string text =
      fmt::format("{}: {} time{}, {} each", printable_line(name), format_number(phase.count),
                  phase.count == 1.0 ? "" : "s", format_duration(phase.seconds));
  if (std::isfinite(phase.period_samples)) {
    text += fmt::format(", every {} {}", format_number(phase.period_samples), unit.plural);
  }
  return text;
}

void add_measurement(FactLines& facts, const Measurement& measurement, const UnitName& unit) {
  std::string status = with_blanks(to_text(measurement.status));
  if (measurement.seconds_per_sample > 0.0) {
    std::string speed = fmt::format(
        "{} {}, {} s per {}", format_number(1.0 / measurement.seconds_per_sample),
        unit.per_second(), format_number(measurement.seconds_per_sample), unit.singular());
    if (std::isfinite(measurement.relative_half_width())) {
      speed += fmt::format(" +-{}", format_percent(measurement.relative_half_width()));
    }
    facts.add("speed", speed);
  }
  const double slowest = measurement.slowest_seconds_per_sample;
  if (std::isfinite(slowest) &&
      slowest > measurement.seconds_per_sample + measurement.half_width_s) {
    facts.add("hidden buffer", fmt::format("up to {} s per {} once it is empty",
                                           format_number(slowest), unit.singular()));
  }
  if (measurement.whole_run) {
    status += fmt::format("; its program ended by itself after {} {}",
                          format_number(measurement.total_samples), unit.plural);
  }
  facts.add("measurement", status);
  facts.add("remark", printable_line(measurement.remark));
  for (const LevelChange& change : measurement.level_changes) {
    std::string text =
        fmt::format("{} times the seconds per {} from {} on", format_number(change.ratio),
                    unit.singular(), format_duration(change.at_s));
    if (change.machine) text += fmt::format(": {} at that time", machine_text(*change.machine));
    facts.add("level change", text);
  }
  for (const auto& [name, phase] : measurement.phases)
    facts.add("phase", phase_text(name, phase, unit));
  facts.add("start-up", format_duration(measurement.startup_s));
  facts.add("warm-up", format_duration(measurement.warmup_s));
  facts.add("window", fmt::format("{}, {} steps, {} {}", format_duration(measurement.window_s),
                                  format_number(measurement.window_steps),
                                  format_number(measurement.window_samples), unit.plural));
  std::string parts;
  for (const auto& [name, seconds] : measurement.parts) {
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", printable_line(name),
                         format_percent(seconds / measurement.seconds_per_sample));
  }
  facts.add("step parts", parts);
  std::string metrics;
  for (const auto& [name, value] : measurement.metrics) {
    metrics += fmt::format("{}{}={}", metrics.empty() ? "" : " ", printable_line(name),
                           format_number(value));
    const auto error = measurement.metric_errors.find(name);
    if (error != measurement.metric_errors.end())
      metrics += fmt::format("+-{:.2g}", k_z_95 * error->second);
  }
  facts.add("metrics", metrics);
}

/// Returns `batch_size 32 -> 512, precision fp32 -> bf16`.
std::string difference_text(const Configuration& from, const Configuration& to,
                            const std::vector<std::string>& parameter_order) {
  std::string text;
  for (const std::string& name : parameter_order) {
    const std::string old_text = value_or_dash(from, name);
    const std::string new_text = value_or_dash(to, name);
    if (old_text == new_text) continue;
    text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", name, old_text, new_text);
  }
  return text;
}

void add_command(FactLines& facts, const TrialCommand& command) {
  facts.add_verbatim("in", shell_quoted(command.working_directory.string()));
  for (const auto& [name, value] : command.environment)
    facts.add_verbatim("env", fmt::format("{}={}", name, shell_quoted(value)));
  if (!command.argv.empty()) facts.add_verbatim("run", shell_quoted(command.argv));
}

/// Returns how often the scheduler decided about the trial, and its last decision with the numbers.
std::string scheduler_text(const TrialTrace& trace, const std::vector<ObjectiveView>& objectives) {
  if (trace.decisions.empty()) return {};
  const TrialDecision& last = trace.decisions.back();
  std::string values;
  for (std::size_t i = 0; i < last.values.size() && i < objectives.size(); ++i) {
    const double sign = objectives[i].objective.direction == Direction::minimize ? 1.0 : -1.0;
    values +=
        fmt::format(", {} {}", objectives[i].title(), objectives[i].text(sign * last.values[i]));
    if (i < last.half_widths.size() && std::isfinite(last.half_widths[i]) &&
        last.values[i] != 0.0) {
      values +=
          fmt::format(" +-{}", format_percent(last.half_widths[i] / std::abs(last.values[i])));
    }
  }
  return fmt::format("{} by the scheduler; the last at {} ({} steps{}): {}{}",
                     trace.decisions.size(), format_duration(last.at_s), format_number(last.steps),
                     values, last.stop ? "stopped" : "continued",
                     last.reason.empty() ? "" : ", " + printable_line(last.reason));
}

std::string load_text(const Disturbance& disturbance) {
  return fmt::format("other load {}, steal {}", format_percent(disturbance.other_load),
                     format_percent(disturbance.steal));
}

/// Returns the load of other programs, the CPU time that the hypervisor took (steal), and further
/// disturbances if there were any.
std::string disturbance_text(const Disturbance& disturbance) {
  std::string text = load_text(disturbance);
  const auto add = [&](const char* name, double share) {
    if (share > 0.0) text += fmt::format(", {} {}", name, format_percent(share));
  };
  add("memory pressure", disturbance.memory_pressure);
  add("storage pressure", disturbance.storage_pressure);
  add("out of CPU quota", disturbance.quota_wait);
  if (disturbance.clocks_throttled) text += ", CPU clocks throttled";
  if (disturbance.other_gpu_processes > 0) {
    text += fmt::format(", {} other process{} on its GPUs", disturbance.other_gpu_processes,
                        disturbance.other_gpu_processes == 1 ? "" : "es");
  }
  return text;
}

std::string disturbed_text(const TrialTrace& trace) {
  std::string text;
  for (std::size_t i = 0; i < std::min(k_shown_elements, trace.disturbed.size()); ++i) {
    const DisturbedTime& time = trace.disturbed[i];
    text += fmt::format("{} to {}: {}\n", format_duration(time.from_s), format_duration(time.to_s),
                        disturbance_text(time.disturbance));
  }
  if (trace.disturbed.size() > k_shown_elements) {
    text += fmt::format("and {} more times\n", trace.disturbed.size() - k_shown_elements);
  }
  return text;
}

/// Returns the resources that programs waited for in the measured window; empty if they hardly
/// waited.
std::string waits_text(const TrialTrace& trace, const Measurement& measurement) {
  struct Wait {
    double MachineSecond::*share;
    const char* what;
  };
  constexpr std::array k_waits{
      Wait{&MachineSecond::memory_pressure, "some program waited for memory"},
      Wait{&MachineSecond::storage_pressure, "some program waited for storage"},
      Wait{&MachineSecond::quota_wait, "threads waited for the CPU quota"},
  };
  const double from_s = measurement.window_begin_s() - trace.spared_startup_s;
  const double to_s = measurement.window_end_s() - trace.spared_startup_s;
  std::vector<std::string> waits;
  for (const Wait& wait : k_waits) {
    const double share = mean_between(trace.machine, wait.share, from_s, to_s);
    if (share >= k_negligible_share) {
      waits.push_back(fmt::format("{} {} of the time", wait.what, format_percent(share)));
    }
  }
  return fmt::format("{}", fmt::join(waits, ", "));
}

std::string attempts_text(const std::vector<AttemptRecord>& attempts) {
  std::string text;
  for (const AttemptRecord& attempt : attempts) {
    text += fmt::format("{}: {}, {}{}{}\n", attempt.attempt, to_text(attempt.status),
                        format_duration(attempt.spent_s),
                        attempt.spent_usd > 0.0 ? ", " + format_usd(attempt.spent_usd) : "",
                        attempt.failure.empty() ? "" : ": " + printable_line(attempt.failure));
  }
  return text;
}

void add_times(FactLines& facts, const TrialRecord& trial,
               const std::optional<double>& machine_hours) {
  if (trial.started_wall_s > 0.0) facts.add("started", format_utc(trial.started_wall_s));
  if (trial.ended_wall_s > 0.0) facts.add("ended", format_utc(trial.ended_wall_s));
  // While the first attempt runs, its price is unknown.
  if (!is_final(trial.status) && trial.spent_s <= 0.0) return;
  std::string spent = format_duration(trial.spent_s);
  if (trial.spent_usd > 0.0) spent += ", " + format_usd(trial.spent_usd);
  if (machine_hours) spent += ", " + machine_hours_text(*machine_hours);
  facts.add("spent", spent);
}

std::string gpu_text(const GpuUse& gpu) {
  std::string text =
      fmt::format("{} of memory at most ({}), busy {}, {:.0f} MHz",
                  format_bytes(gpu.peak_memory_bytes), format_percent(gpu.peak_memory_share),
                  format_percent(gpu.utilisation), gpu.sm_clock_hz / 1e6);
  if (gpu.slowed_share > 0.0) {
    text += fmt::format(", throttled {} of the time", format_percent(gpu.slowed_share));
  }
  if (gpu.most_other_processes > 0) {
    text += fmt::format(", shared with {} other process{}", gpu.most_other_processes,
                        gpu.most_other_processes == 1 ? "" : "es");
  }
  return text;
}

/// Returns the disturbance over the whole trial. Adds `unreliable` if the trial was disturbed too
/// much.
std::string whole_disturbance_text(const TrialRecord& trial) {
  std::string text = load_text(*trial.disturbance);
  if (trial.disturbed_s > 0.0) {
    text += fmt::format(", above a threshold for {}", format_duration(trial.disturbed_s));
  }
  return was_disturbed(trial) ? text + ": unreliable" : text;
}

/// Adds how much the trial and other programs used the machine.
void add_machine_use(FactLines& facts, const TrialRecord& trial) {
  if (trial.peak_memory_bytes) facts.add("peak memory", format_bytes(*trial.peak_memory_bytes));
  if (trial.cpu_busy) {
    facts.add("CPUs",
              fmt::format("busy {} from the first report on", format_percent(*trial.cpu_busy)));
  }
  if (trial.cpu_clock) {
    facts.add("CPU clock", fmt::format("{} while busy, in the slowest second {}",
                                       format_ghz(trial.cpu_clock->mean_hz),
                                       format_ghz(trial.cpu_clock->lowest_hz)));
  }
  if (trial.gpu) facts.add("GPU", gpu_text(*trial.gpu));
  if (trial.storage_read_bytes) {
    facts.add("storage", format_bytes(*trial.storage_read_bytes) + " read");
  }
  if (trial.disturbance) facts.add("disturbance", whole_disturbance_text(trial));
}

/// Adds the facts that come from the trial's trace. `width` is the terminal's; 0 for a file.
void add_trace(FactLines& facts, const TrialRecord& trial, const TrialTrace& trace,
               const std::vector<ObjectiveView>& objectives, std::size_t width) {
  const std::size_t room = width > 0 ? readable_width(width) : k_default_width;
  facts.add_lines(
      "step time",
      step_plot(trace, trial.measurement, room > k_fact_indent ? room - k_fact_indent : 0),
      &FactLines::add_verbatim);
  facts.add("decisions", scheduler_text(trace, objectives));
  facts.add_lines("disturbed", disturbed_text(trace));
  if (trial.measurement) facts.add("waits", waits_text(trace, *trial.measurement));
}

std::string placement_text(const TrialRecord& trial) {
  std::string text;
  for (const auto& [name, value] : trial.placement) {
    if (name == k_left_behind_fact) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, printable_line(value));
  }
  return text;
}

/// Returns files and memory that outlived the trial.
std::string left_behind_text(const TrialRecord& trial) {
  const auto left = trial.placement.find(k_left_behind_fact);
  return left == trial.placement.end() ? "" : printable_line(left->second, k_any_length);
}

void add_log(FactLines& facts, const TrialRecord& trial, const std::vector<std::string>& tail) {
  if (!trial.log_path.empty()) facts.add_verbatim("log", shell_quoted(trial.log_path.string()));
  std::string text;
  for (const std::string& line : tail)
    text += line + "\n";
  facts.add_lines("log ends with", text, &FactLines::add_verbatim);
}

}  // namespace

std::string trial_text(const TrialRecord& trial, const TrialRecord* baseline,
                       const std::vector<ObjectiveView>& objectives,
                       const std::vector<std::string>& parameter_order, const TrialDetails& details,
                       std::size_t width) {
  FactLines facts(width);
  facts.add("trial", fmt::format("{}  {}", trial.number, with_blanks(to_text(trial.status))));
  facts.add("purpose", trial.confirm_pair > 0
                           ? fmt::format("{}, pair {}", to_text(trial.purpose), trial.confirm_pair)
                           : fmt::format("{} (from {})", to_text(trial.purpose),
                                         printable_line(trial.origin)));
  facts.add("configuration", configuration_text(trial.configuration, parameter_order));
  if (baseline != nullptr && baseline->configuration != trial.configuration) {
    facts.add("from baseline",
              difference_text(baseline->configuration, trial.configuration, parameter_order));
  }
  for (std::size_t i = 0; i < objectives.size() && i < trial.objectives.size(); ++i) {
    facts.add(objectives[i].title(), objective_text(trial, baseline, objectives[i], i));
  }
  facts.add("failure", printable_line(trial.failure, 4000));
  if (trial.measurement) add_measurement(facts, *trial.measurement, unit_of(objectives));
  add_machine_use(facts, trial);
  if (details.trace) add_trace(facts, trial, *details.trace, objectives, width);
  if (trial.expected_improvement) {
    facts.add("expected", fmt::format("{} better than the best before it",
                                      format_percent(*trial.expected_improvement)));
  }
  if (details.command) add_command(facts, *details.command);
  add_times(facts, trial, details.machine_hours);
  facts.add_lines("attempts", attempts_text(details.attempts));
  if (trial.attempt > 1 && details.attempts.empty())
    facts.add("attempts", std::to_string(trial.attempt));
  facts.add("placement", placement_text(trial));
  facts.add("left", left_behind_text(trial));
  add_log(facts, trial, details.log_tail);
  return facts.text();
}

}  // namespace steptune
