// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "trial_runner/report.hpp"
#include "trial_runner/reports/preset.hpp"
#include "trial_runner/reports/report_format.hpp"
#include "trial_runner/reports/steptune_line.hpp"

namespace steptune {

/// Turns a trial's output, line by line, into reports: `[steptune]` lines always, others as the
/// format says. Any bytes may be given. Memory and time per line are bounded. Once a `[steptune]`
/// line has told a counter, counters are taken from such lines only. Not thread safe; movable.
class ReportReader {
 public:
  /// Errors (`usage`): unknown preset, a regular expression that does not compile or has no group.
  [[nodiscard]] static Result<ReportReader> create(const ReportFormat& format);

  ReportReader(ReportReader&&) noexcept;
  ReportReader& operator=(ReportReader&&) noexcept;
  ~ReportReader();

  /// What the line tells, if anything. Progress bars end their lines with `\r`: split the output
  /// there as well as at `\n`; a line that still holds some is read piece by piece, the last wins.
  /// The report holds the counters of this line alone and the last value of every metric so far.
  /// Of a line over 16 KiB only the first 16 KiB are read. A line of a rank other than the first
  /// tells its counters, parts and phases alone.
  [[nodiscard]] std::optional<Report> read_line(std::string_view line, double received_s);

  /// Names of the metrics in the line that was read last.
  [[nodiscard]] const std::set<std::string>& latest_metrics() const;

  /// Whether a phase was told to begin and neither an end nor a counter since: the silence of a
  /// long evaluation is no sign that the trial hangs.
  [[nodiscard]] bool phase_under_way() const;

  /// Unit of the counters so far: epochs or percent if the output has no other counter.
  [[nodiscard]] CountUnit unit() const;

  /// Lines that looked like reports and were refused so far.
  [[nodiscard]] std::uint64_t rejected_lines() const;
  /// The first of them, for a warning.
  [[nodiscard]] const std::optional<Rejection>& first_rejection() const;
  /// Both, and what is not counted of lines that were read, for people; empty where there is none.
  [[nodiscard]] std::string rejections() const;

 private:
  struct State;
  explicit ReportReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace steptune
