// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/output_look.hpp"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/shipped_files.hpp"
#include "trial_runner/output/lines.hpp"
#include "trial_runner/reports/preset.hpp"
#include "trial_runner/reports/report_reader.hpp"
#include "tuner/study/sections.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_of_file = "the preset of ";
/// A count that these many lines repeat, and none exceeds, shows no progress. For example, a log
/// may keep only the last draw of each epoch's bar, and the bar has no total.
constexpr std::size_t k_standing_lines = 7;

/// Reads `reports` as in a study file.
ReportFormat format_from(const Json& reports) {
  document::Reading reading;
  return study::reports().read(document::Node(reports, "", reading)).value_or(ReportFormat{});
}

void add_preset_files(std::vector<OutputFormat>& formats) {
  for (const fs::path& file : shipped_json_files("presets")) {
    const auto json = read_json_file(file);
    if (!json || !json->is_object() || !json->contains("reports")) continue;
    const Json& reports = (*json)["reports"];
    formats.push_back(
        {fmt::format("{}{}", k_of_file, file.filename().string()), reports, format_from(reports)});
    if (const std::string step = text_at(*json, "step"); !step.empty()) {
      formats.back().step_name = step;
    }
  }
}

OutputReading read_output(const OutputFormat& format, std::string_view output) {
  OutputReading reading;
  reading.format = format;
  auto reader = ReportReader::create(format.format);
  if (!reader) return reading;
  std::optional<double> first_step;
  std::optional<double> first_samples;
  double last_step = -1.0;
  double last_samples = -1.0;
  std::size_t lines = 0;
  std::size_t standing = 0;  // lines whose count does not exceed earlier counts
  LineSplitter splitter;
  const auto take = [&](std::string_view line) {
    const auto report = reader->read_line(line, static_cast<double>(lines));
    ++lines;
    if (!report) return;
    ++reading.explained;
    for (const auto& [name, value] : report->metrics) {
      if (!report->repeated.contains(name)) ++reading.metrics[name];
    }
    const bool forward =
        report->step.value_or(-1.0) > last_step || report->samples.value_or(-1.0) > last_samples;
    if (!forward) {
      if (report->step || report->samples) ++standing;
      return;
    }
    ++reading.progress;
    if (reading.progress == 1) reading.first_line = lines;
    reading.last_line = lines;
    reading.reports_samples = reading.reports_samples || report->samples.has_value();
    if (report->step && report->samples) {
      if (!first_step) first_step = report->step;
      if (!first_samples) first_samples = report->samples;
      const double steps = *report->step - *first_step;
      if (steps > 0.0) reading.samples_per_step = (*report->samples - *first_samples) / steps;
    }
    last_step = report->step.value_or(last_step);
    last_samples = report->samples.value_or(last_samples);
    if (const auto count = reading.reports_samples ? report->samples : report->step) {
      if (reading.progress == 1) reading.first_count = *count;
      reading.last_count = *count;
    }
  };
  splitter.feed(output.substr(0, k_inspected_bytes), take);
  splitter.flush(take);
  if (reading.progress == 1 && standing >= k_standing_lines) reading.progress = 0;
  reading.unit = reader->unit() == CountUnit::steps ? format.sample_unit : reader->unit();
  return reading;
}

bool names_loss(const OutputReading& reading) {
  return std::ranges::any_of(reading.metrics, [](const auto& counted) {
    return counted.first.find("loss") != std::string::npos;
  });
}

/// True if all progress lines of one reading come before those of the other reading.
bool are_apart(const OutputReading& a, const OutputReading& b) {
  return a.last_line < b.first_line || b.last_line < a.first_line;
}

}  // namespace

std::string OutputFormat::short_name() const {
  if (name.starts_with(k_of_file)) {
    return name.substr(k_of_file.size(), name.rfind('.') - k_of_file.size());
  }
  return name.substr(name.find(' ') + 1);
}

std::vector<std::string> preset_names_of(const std::vector<OutputFormat>& formats) {
  std::vector<std::string> names;
  for (const OutputFormat& format : formats) {
    if (!format.reports.is_null()) names.push_back(format.short_name());
  }
  return names;
}

bool OutputReading::counts_shares() const {
  return unit != CountUnit::steps || unit_name() != "steps";
}

std::string OutputReading::unit_name() const {
  return name_of(unit, format.step_name);
}

std::string name_of(CountUnit unit, const std::string& of_steps) {
  if (unit == CountUnit::epochs) return "epochs";
  return unit == CountUnit::percent ? "percent" : of_steps;
}

std::vector<OutputFormat> output_formats() {
  std::vector<OutputFormat> formats{{"[steptune] lines", Json(), {}}};
  for (const std::string& name : preset_names())
    formats.push_back({fmt::format("preset {}", name), Json(name), format_from(Json(name))});
  add_preset_files(formats);
  return formats;
}

std::optional<OutputReading> best_reading(const std::vector<OutputFormat>& formats,
                                          std::string_view output) {
  std::optional<OutputReading> best;
  std::optional<OutputReading> shares;  // best reading in epochs or percent, with a loss
  for (const OutputFormat& format : formats) {
    OutputReading reading = read_output(format, output);
    if (reading.progress == 0) continue;
    // `[steptune]` lines with counters take precedence over any other format.
    if (format.reports.is_null() && reading.progress >= 2) return reading;
    const auto merit = [](const OutputReading& of) {
      return std::tuple(of.progress >= 2, of.unit == CountUnit::steps, of.explained, of.progress,
                        of.metrics.size());
    };
    const bool is_share =
        reading.unit != CountUnit::steps && reading.progress >= 2 && names_loss(reading);
    if (is_share && (!shares || merit(reading) > merit(*shares))) shares = reading;
    const bool better = !best || merit(reading) > merit(*best);
    if (better) best = std::move(reading);
  }
  const bool are_other_bars = best && shares && best->unit == CountUnit::steps &&
                              !names_loss(*best) && are_apart(*best, *shares);
  return are_other_bars ? shares : best;
}

}  // namespace steptune
