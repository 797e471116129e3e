// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/error.hpp"
#include "trial_runner/output/lines.hpp"
#include "trial_runner/output/log_file.hpp"
#include "trial_runner/report.hpp"
#include "trial_runner/reports/report_reader.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/sagemaker/log_follower.hpp"

namespace steptune {

/// What the hosts of a trial's job print: kept in the trial's log, and read for reports.
class JobOutput {
 public:
  /// Opens the trial's log, if it has one. An error if that or the report format is unusable.
  [[nodiscard]] static Result<JobOutput> create(const TrialSpec& spec);

  /// A line that was printed at `time_s`. Of several hosts the first that reports is believed: all
  /// print the same progress.
  [[nodiscard]] std::optional<Report> read_line(double time_s, const LogLine& line);
  /// Whether the host that is believed is in a phase (`ReportReader::phase_under_way`).
  [[nodiscard]] bool phase_under_way() const;
  [[nodiscard]] const OutputTail& tail() const { return tail_; }
  /// Completes the log.
  void finish() { log_.finish(); }
  /// What of the output was refused or is not in the log, for people; empty where nothing.
  [[nodiscard]] std::string faults() const;

 private:
  JobOutput(ReportFormat format, LogFile log) : format_(std::move(format)), log_(std::move(log)) {}

  ReportFormat format_;
  std::map<std::string, ReportReader> readers_;  ///< by host
  std::string reporting_host_;
  LogFile log_;
  OutputTail tail_;
};

}  // namespace steptune
