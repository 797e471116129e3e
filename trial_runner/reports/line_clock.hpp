// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace steptune {

/// Reads when lines were printed from the lines themselves, for logs that were written before
/// anybody read them: a date with a time (`2025-01-09 11:53:02,473`, `2025-01-09T11:53:02.473Z`,
/// `2025-01-09T11:53:02+01:00`, `2025/01/09 11:53:02`), the same without a year
/// (glog's `I1128 05:12:33.123456`, `[11/28 05:12:33 name]`), and the elapsed time of a progress
/// bar
/// (`[01:12<08:39`): since the latest date, or where no line has one made cumulative over bars that
/// start again, so that what passed between two bars is not in it. Bars are told apart by their
/// length: while the one of an evaluation is drawn, that of the training goes on. Dates without an
/// offset from UTC are those of one place; the hour by which clocks are set forth or back there in
/// a year's course is told from the dates themselves. Memory is bounded. Not thread safe.
class LineClock {
 public:
  enum class Source { none, timestamps, progress_bars };

  /// Seconds from any origin, that of the line or of the last one that told; nothing before the
  /// first.
  std::optional<double> read(std::string_view line);
  [[nodiscard]] Source source() const { return source_; }

 private:
  struct Date {
    double time_s = 0.0;  ///< since 1970: UTC, or of the place
    bool is_utc = false;
  };
  std::optional<Date> date_in(std::string_view line);
  /// Days from a fixed origin. Of a date far before the latest, the year is the next one.
  std::optional<double> day_without_year(unsigned month, unsigned day);
  /// Seconds from a fixed origin of a line's date, which is local time.
  double without_change_of_hour(double local_s);
  struct Bar {
    double elapsed_s = 0.0;
    double now_s = 0.0;  ///< when it was drawn last
  };
  /// When a bar was drawn that has taken so long.
  [[nodiscard]] double by_bar(const Bar* before, double elapsed_s) const;

  Source source_ = Source::none;
  std::optional<double> now_s_;
  int year_ = 0;                     ///< of the latest date; 0: none yet
  double days_before_year_ = 0.0;    ///< to be added to days of a year that is assumed
  std::optional<double> last_day_;   ///< of the latest date
  bool has_short_dates_ = false;     ///< the first date had no year
  std::optional<double> local_s_;    ///< of the latest date without an offset
  double longest_gap_s_ = 0.0;       ///< between two of them
  double change_s_ = 0.0;            ///< to be added, since clocks were set
  std::map<std::string, Bar> bars_;  ///< by length, as printed
};

}  // namespace steptune
