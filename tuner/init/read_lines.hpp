// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "trial_runner/report.hpp"
#include "trial_runner/reports/line_clock.hpp"
#include "trial_runner/reports/preset.hpp"
#include "trial_runner/reports/report_reader.hpp"

namespace steptune {

/// Contents of one line of an output.
struct ReadLine {
  std::size_t number = 0;  ///< number of the line, from 1
  std::optional<double> step;
  std::optional<double> samples;
  std::map<std::string, double> metrics;  ///< NaN or infinite if the line says so
  std::optional<PhaseReport> phase;

  [[nodiscard]] bool is_empty() const { return !step && !samples && metrics.empty() && !phase; }
};

/// Summary of all lines of an output.
struct ReadOutput {
  std::size_t lines = 0;
  std::size_t with_content = 0;   ///< lines with any content
  std::size_t with_progress = 0;  ///< lines whose counter exceeds all earlier counters
  std::optional<double> last_step;
  std::optional<double> last_samples;
  std::map<std::string, std::size_t> metrics;  ///< name -> number of lines
  std::map<std::string, std::size_t> phases;   ///< name -> number of ended phases
  LineClock::Source times = LineClock::Source::none;
  CountUnit unit = CountUnit::steps;  ///< epochs and percent count as samples
  /// Mean seconds for each step, by the times in the lines; includes evaluations and other phases.
  /// If the output has no steps, seconds for each sample.
  std::optional<double> seconds_per_count;
  std::string rejections;  ///< lines that looked like reports but were refused; may be empty
};

/// Reads a finished output line by line.
class LineReader {
 public:
  /// Errors (`usage`) as in `ReportReader::create`.
  [[nodiscard]] static Result<LineReader> create(const ReportFormat& format);

  ReadLine read(std::string_view line);
  [[nodiscard]] CountUnit unit() const { return reader_.unit(); }  ///< unit so far
  [[nodiscard]] ReadOutput output() const;

 private:
  explicit LineReader(ReportReader reader) : reader_(std::move(reader)) {}
  void note_progress(const Report& report, std::optional<double> time_s);

  struct Point {
    double count = 0.0;
    double time_s = 0.0;
  };
  ReportReader reader_;
  LineClock clock_;
  ReadOutput output_;
  std::optional<Point> first_;
  std::optional<Point> last_;
};

}  // namespace steptune
