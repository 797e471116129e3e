// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "trial_runner/report.hpp"
#include "trial_runner/reports/preset.hpp"
#include "trial_runner/reports/report_format.hpp"
#include "trial_runner/reports/steptune_line.hpp"

namespace steptune {

/// Turns a trial's output into reports, line by line. Always reads `[steptune]` lines; reads other
/// lines as the `ReportFormat` says. Accepts any bytes. Memory and time per line are bounded. After
/// the first `[steptune]` line with a counter, takes counters only from such lines. Not thread
/// safe; movable.
class ReportReader {
 public:
  /// Returns a `usage` error for an unknown preset, or a regular expression that is invalid or has
  /// no group.
  [[nodiscard]] static Result<ReportReader> create(const ReportFormat& format);

  ReportReader(ReportReader&&) noexcept;
  ReportReader& operator=(ReportReader&&) noexcept;
  ~ReportReader();

  /// Reads a line; nullopt if it contains no report. Progress bars end their lines with `\r`, so
  /// split the output there as well as at `\n`. If a line still contains `\r`, reads it in pieces;
  /// the last value wins. The report has this line's counters and the last value of every metric so
  /// far (`Report::repeated`). Reads at most 16 KiB of a line. From lines of a rank other than 0,
  /// takes no metrics.
  [[nodiscard]] std::optional<Report> read_line(std::string_view line, double received_s);

  /// True if a phase has begun and rank 0 has reported neither its end nor a counter since.
  /// Silence, as in a long evaluation, then does not mean that the trial hangs.
  [[nodiscard]] bool phase_under_way() const;

  /// Returns the unit of the counters so far: epochs or percent if the output has no other counter.
  [[nodiscard]] CountUnit unit() const;

  /// Returns the number of rejections: each line that looked like a report and was invalid; once if
  /// there are too many metrics; once if counters cannot be trusted (`Preset::counter_fault`).
  [[nodiscard]] std::uint64_t rejected_lines() const;
  /// Returns the reason of the first rejection, for a warning.
  [[nodiscard]] const std::optional<Rejection>& first_rejection() const;
  /// Returns the text for people about rejected lines and uncounted steps; empty if there are none.
  [[nodiscard]] std::string rejections() const;

 private:
  struct State;
  explicit ReportReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace steptune
