// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace steptune {

/// Finds out when lines were printed, for logs that were not read while the program ran. Sources:
///
/// - A date with a time: `2025-01-09 11:53:02,473`, `2025-01-09T11:53:02.473Z`,
///   `2025-01-09T11:53:02+01:00`, `2025/01/09 11:53:02`, `Thu Jan  9 11:53:02 2025`.
/// - A date without a year, with a time: glog's `I1128 05:12:33.123456`, `[11/28 05:12:33 name]`.
/// - The elapsed time of a progress bar, `[01:12<08:39`, counted from the latest date. Without
///   dates, elapsed times are summed over bars that start again, which leaves out time between
///   bars. Bars are distinguished by their length (the total), because the training's bar continues
///   after an evaluation's bar. A log may keep only the last draw of each bar.
///
/// Dates without an offset from UTC are assumed to be local time of one place. Daylight-saving
/// changes are detected from the dates. Memory is bounded. Not thread safe.
class LineClock {
 public:
  enum class Source { none, timestamps, progress_bars };

  /// Returns the time of this line, or of the last line that had a time, in seconds from an
  /// arbitrary origin. nullopt before the first line with a time.
  std::optional<double> read(std::string_view line);
  [[nodiscard]] Source source() const { return source_; }

 private:
  struct Date {
    double time_s = 0.0;  ///< since 1970, in UTC or local time
    bool is_utc = false;
  };
  std::optional<Date> date_in(std::string_view line);
  /// Returns days from a fixed origin. A date far before the latest one belongs to the next year.
  std::optional<double> day_without_year(unsigned month, unsigned day);
  /// Converts local time to seconds from a fixed origin without daylight-saving jumps.
  double without_change_of_hour(double local_s);
  struct Bar {
    double elapsed_s = 0.0;
    double count = 0.0;
    bool is_full = false;         ///< the count is the length, or there is no length
    std::optional<double> epoch;  ///< named in the bar's line
    double now_s = 0.0;           ///< when it was last drawn
    bool is_bare = false;         ///< no description and no values, so no reason to be drawn again
  };
  /// True if `drawn` is a later state of the bar `before`, not a new bar of the same length.
  [[nodiscard]] bool continues(const Bar& before, const Bar& drawn) const;
  /// Returns the time at which `drawn` was drawn. `before` is the last bar of this length.
  [[nodiscard]] double by_bar(const Bar* before, const Bar& drawn) const;

  Source source_ = Source::none;
  std::optional<double> now_s_;
  double origin_s_ = 0.0;            ///< subtracted from dates that follow times of bars
  int year_ = 0;                     ///< of the latest date; 0: none yet
  double days_before_year_ = 0.0;    ///< added to days of an assumed year
  std::optional<double> last_day_;   ///< of the latest date
  bool has_short_dates_ = false;     ///< the first date had no year
  std::optional<double> local_s_;    ///< of the latest date without an offset
  double longest_gap_s_ = 0.0;       ///< longest time between two such dates
  double change_s_ = 0.0;            ///< sum of daylight-saving changes so far
  std::map<std::string, Bar> bars_;  ///< by length, as printed
};

}  // namespace steptune
