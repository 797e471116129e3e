// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/read_lines.hpp"

#include <utility>

#include "common/numbers.hpp"

namespace steptune {

Result<LineReader> LineReader::create(const ReportFormat& format) {
  auto reader = ReportReader::create(format);
  if (!reader) return tl::unexpected(reader.error());
  return LineReader(*std::move(reader));
}

ReadLine LineReader::read(std::string_view line) {
  ReadLine values;
  values.number = ++output_.lines;
  const auto line_s = clock_.read(line);
  const auto report = reader_.read_line(line, line_s.value_or(0.0));
  if (!report) return values;
  values.step = report->step;
  values.samples = report->samples;
  values.phase = report->phase;
  values.metrics = report->metrics;
  for (const std::string& name : report->not_finite)
    values.metrics[name] = k_nan;
  for (const std::string& name : report->repeated)
    values.metrics.erase(name);
  for (const auto& [name, value] : values.metrics)
    ++output_.metrics[name];
  if (values.is_empty()) return values;
  ++output_.with_content;
  if (values.phase && values.phase->seconds) ++output_.phases[values.phase->name];
  if (values.step || values.samples)
    note_progress(*report, report->clock_s ? report->clock_s : line_s);
  return values;
}

void LineReader::note_progress(const Report& report, std::optional<double> time_s) {
  const bool goes_on = report.step.value_or(-1.0) > output_.last_step.value_or(-1.0) ||
                       report.samples.value_or(-1.0) > output_.last_samples.value_or(-1.0);
  if (!goes_on) return;
  ++output_.with_progress;
  if (report.step) output_.last_step = report.step;
  if (report.samples) output_.last_samples = report.samples;
  const bool counts_steps = output_.last_step.has_value();
  const auto count = counts_steps ? report.step : report.samples;
  if (!count || !time_s) return;
  last_ = Point{*count, *time_s};
  if (!first_) first_ = last_;
}

ReadOutput LineReader::output() const {
  ReadOutput output = output_;
  output.times = clock_.source();
  output.unit = reader_.unit();
  output.rejections = reader_.rejections();
  if (first_ && last_->count > first_->count && last_->time_s > first_->time_s) {
    output.seconds_per_count = (last_->time_s - first_->time_s) / (last_->count - first_->count);
  }
  return output;
}

}  // namespace steptune
