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
  std::size_t number = 0;  ///< of the line, from 1
  std::optional<double> step;
  std::optional<double> samples;
  std::map<std::string, double> metrics;  ///< NaN or infinite where the line says so
  std::optional<PhaseReport> phase;

  [[nodiscard]] bool tells_nothing() const {
    return !step && !samples && metrics.empty() && !phase;
  }
};

/// All lines of an output together.
struct ReadOutput {
  std::size_t lines = 0;
  std::size_t telling = 0;        ///< lines that tell anything
  std::size_t with_progress = 0;  ///< lines whose counter is beyond all before
  std::optional<double> last_step;
  std::optional<double> last_samples;
  std::map<std::string, std::size_t> metrics;  ///< name -> lines
  std::map<std::string, std::size_t> phases;   ///< name -> how many ended
  LineClock::Source times = LineClock::Source::none;
  CountUnit unit = CountUnit::steps;  ///< epochs and percent count as samples
  /// By the times that lines carry, evaluations and other phases included; the counter is steps
  /// if there are any, else samples.
  std::optional<double> seconds_per_count;
  std::string rejections;  ///< lines that looked like reports and were refused; empty: none
};

/// Reads an output that was written before, line by line.
class LineReader {
 public:
  /// Errors (`usage`): as `ReportReader::create`.
  [[nodiscard]] static Result<LineReader> create(const ReportFormat& format);

  ReadLine read(std::string_view line);
  [[nodiscard]] CountUnit unit() const { return reader_.unit(); }  ///< so far
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
