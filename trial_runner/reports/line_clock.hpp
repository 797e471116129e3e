// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace steptune {

/// Reads when lines were printed from the lines themselves, for logs that were written before
/// anybody read them: a date with a time (`2025-01-09 11:53:02,473`, `2025-01-09T11:53:02.473Z`),
/// else the elapsed time of a progress bar (`[01:12<08:39`), made cumulative over bars that start
/// again: what passed between two bars is not in it. Not thread safe.
class LineClock {
 public:
  enum class Source { none, timestamps, progress_bars };

  /// Seconds from any origin, that of the line or of the last one that told; nothing before the
  /// first. Once a line had a date, bars are not asked any more.
  std::optional<double> read(std::string_view line);
  [[nodiscard]] Source source() const { return source_; }

 private:
  Source source_ = Source::none;
  std::optional<double> now_s_;
  double bars_s_ = 0.0;  ///< of the bars before this one
  double bar_s_ = 0.0;
};

}  // namespace steptune
