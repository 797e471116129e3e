// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.hpp"
#include "trial_runner/reports/preset.hpp"
#include "trial_runner/reports/report_format.hpp"

namespace steptune {

/// A way to read a program's output, and its notation in a study file.
struct OutputFormat {
  std::string name;  ///< `preset tqdm`, `the preset of lightgbm.json`; for people
  Json reports;      ///< null: `[steptune]` lines, which are always read
  ReportFormat format;
  std::string step_name = "steps";           ///< `boosting rounds`, if each round uses all samples
  CountUnit sample_unit = CountUnit::steps;  ///< epochs if expressions read epochs as samples

  /// Returns `tqdm` for a preset, `xgboost` for a file in `configs/presets`.
  [[nodiscard]] std::string short_name() const;
};

/// Returns `[steptune]` lines, the built-in presets, and the presets in `configs/presets`.
[[nodiscard]] std::vector<OutputFormat> output_formats();

/// Returns the short names of all presets among `formats`.
[[nodiscard]] std::vector<std::string> preset_names_of(const std::vector<OutputFormat>& formats);

/// Result of reading an output in one format.
struct OutputReading {
  OutputFormat format;
  std::size_t progress = 0;   ///< lines with a count of steps or samples above all earlier counts
  std::size_t explained = 0;  ///< lines with a counter, a metric or a phase
  std::map<std::string, std::size_t> metrics{};  ///< number of lines with each metric, by its name
  std::optional<double> samples_per_step;        ///< nullopt unless lines had samples and steps
  bool reports_samples = false;                  ///< the output counts samples, not only steps
  double first_count = 0.0;  ///< first count of samples, or of steps if there are only steps
  double last_count = 0.0;
  std::size_t first_line = 0;  ///< number of the first line with progress
  std::size_t last_line = 0;   ///< number of the last line with progress
  CountUnit unit = CountUnit::steps;
  /// True if each count is a fixed share of the data: epochs, percent, boosting rounds. The batch
  /// size does not change the meaning of a count.
  [[nodiscard]] bool counts_shares() const;
  [[nodiscard]] std::string unit_name() const;  ///< `epochs`, `percent`, `boosting rounds`, `steps`
};

/// Returns `epochs`, `percent`, or `of_steps`.
[[nodiscard]] std::string name_of(CountUnit unit, const std::string& of_steps);

/// Number of bytes at the start of an output that decide the choice of a format.
inline constexpr std::size_t k_inspected_bytes = std::size_t{256} << 10;

/// Returns the best reading; nullopt if no format finds progress. If at least two `[steptune]`
/// lines show progress, their format is the best. Otherwise formats that find at least two counts
/// precede other formats: a single count may be the progress bar of a preparation. Next, formats
/// that count steps or samples precede formats that count epochs or percent. Then the numbers of
/// explained lines, of progress lines and of metrics decide, and finally the order of `formats`.
/// Exception: if all epochs with a loss come before or after steps without a loss, these steps are
/// a test or a preparation.
[[nodiscard]] std::optional<OutputReading> best_reading(const std::vector<OutputFormat>& formats,
                                                        std::string_view output);

}  // namespace steptune
