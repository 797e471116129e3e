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

/// Output of all hosts of a trial. Writes it to the trial's log and reads reports from it.
class JobOutput {
 public:
  /// Opens the trial's log, if it has one. Returns an error if the log or the report format is
  /// unusable.
  [[nodiscard]] static Result<JobOutput> create(const TrialSpec& spec);

  /// Reads a line printed at `time_s`. Returns hook events and reports with a rank, from all hosts.
  /// Reports without a rank are equal on all hosts, so returns only the reports of the first host
  /// that reported.
  [[nodiscard]] std::optional<Report> read_line(double time_s, const LogLine& line);
  /// True if the host that reported first is in a phase (`ReportReader::phase_under_way`).
  [[nodiscard]] bool phase_under_way() const;
  [[nodiscard]] const OutputTail& tail() const { return tail_; }
  /// Writes the end of the log.
  void finish() { log_.finish(); }
  /// Returns a text on output that was refused or is missing in the log; empty if there is none.
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
