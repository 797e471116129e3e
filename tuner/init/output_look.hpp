// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.hpp"
#include "trial_runner/reports/preset.hpp"
#include "trial_runner/reports/report_format.hpp"

namespace steptune {

/// A way to read a program's output, and how a study file says it.
struct OutputFormat {
  std::string name;  ///< `tqdm`, `a preset of lightgbm.json`; for people
  Json reports;      ///< null: `[steptune]` lines, which are always read
  ReportFormat format;
  std::string step_name = "steps";  ///< `boosting rounds`, where a round takes all samples
};

/// `[steptune]` lines, the presets of the program, and those of the files in `configs/presets`.
[[nodiscard]] std::vector<OutputFormat> output_formats();

/// What one format made of an output.
struct OutputReading {
  OutputFormat format;
  std::size_t progress = 0;   ///< lines that told a step or a sample beyond those before
  std::size_t explained = 0;  ///< lines that told anything: a counter, a metric, a phase
  std::set<std::string> metrics;
  std::optional<double> samples_per_step;  ///< where lines told both
  bool tells_samples = false;              ///< not steps alone
  CountUnit unit = CountUnit::steps;
  /// True if each count takes a fixed share of the data: epochs, percent, boosting rounds. The
  /// batch size does not change what a count is.
  [[nodiscard]] bool counts_shares() const;
  [[nodiscard]] std::string unit_name() const;  ///< `epochs`, `percent`, `boosting rounds`, `steps`
};

/// `epochs`, `percent`, else `of_steps`.
[[nodiscard]] std::string name_of(CountUnit unit, const std::string& of_steps);

/// Bytes of an output by which a format is chosen: its first ones.
inline constexpr std::size_t k_looked_at_bytes = std::size_t{256} << 10;

/// Returns the reading by `[steptune]` lines if there are two. Otherwise formats that count steps
/// or samples come before those that count epochs. Of these the one that explains most lines wins,
/// then the one with most progress, then with most metrics, then the first. Returns nothing if no
/// format tells progress.
[[nodiscard]] std::optional<OutputReading> best_reading(const std::vector<OutputFormat>& formats,
                                                        std::string_view output);

}  // namespace steptune
