// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/line_clock.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <string>

#include <re2/re2.h>

#include "common/text.hpp"
#include "common/units.hpp"
#include "trial_runner/report.hpp"
#include "trial_runner/reports/counter.hpp"
#include "trial_runner/reports/progress_bar.hpp"

namespace steptune {
namespace {

/// True in the hours in which clocks are changed for daylight saving.
bool is_at_night(double hour_s) {
  const double of_day_s = std::fmod(hour_s, k_day_s);
  return of_day_s < 4.0 * k_hour_s || of_day_s >= 23.0 * k_hour_s;
}

/// Date and time of day in a line.
struct Timestamp {
  std::optional<int> year;  ///< nullopt: the line has only month and day
  unsigned month = 0;
  unsigned day = 0;
  double of_day_s = 0.0;
  std::optional<double> ahead_of_utc_s;
};

/// Parses `Z`, `+01:00`, `-0530`; nullopt for an offset that no place has.
std::optional<double> offset_s(const std::string& text) {
  if (text == "Z") return 0.0;
  const auto hours = parse_finite(text.substr(1, 2));
  const auto minutes = parse_finite(text.substr(text.size() - 2));
  if (!hours || !minutes || *hours > 14.0 || std::fmod(*minutes, 15.0) != 0.0) return std::nullopt;
  const double size_s = k_hour_s * *hours + 60.0 * *minutes;
  return text.front() == '-' ? -size_s : size_s;
}

double seconds_of_day(int hour, int minute, int second, const std::string& fraction) {
  const double part_s = fraction.empty() ? 0.0 : parse_finite("0." + fraction).value_or(0.0);
  return k_hour_s * hour + 60.0 * minute + second + part_s;
}

/// Parses `2025-01-09 11:53:02,473`, but not an estimate (`ETA: 2025-01-09 11:53:02`).
std::optional<Timestamp> full_timestamp_in(re2::StringPiece line) {
  static const re2::RE2 k_regex(
      R"((?i:\b(eta)\W{0,3})?(\d{4})[-/](\d\d)[-/](\d\d)[T ,](\d\d):(\d\d):(\d\d))"
      R"((?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d\b)?)",
      re2::RE2::Quiet);
  Timestamp stamp;
  int year = 0, hour = 0, minute = 0, second = 0;
  std::string estimate, fraction, offset;
  if (!re2::RE2::PartialMatch(line, k_regex, &estimate, &year, &stamp.month, &stamp.day, &hour,
                              &minute, &second, &fraction, &offset) ||
      !estimate.empty()) {
    return std::nullopt;
  }
  stamp.year = year;
  stamp.of_day_s = seconds_of_day(hour, minute, second, fraction);
  if (!offset.empty()) stamp.ahead_of_utc_s = offset_s(offset);
  return stamp;
}

/// Parses glog's `I1128 05:12:33.123456` (also with a year, `I20261128`), and `[11/28 05:12:33
/// name]` at the start of the line or in brackets, because `batch 10/28 00:05:12` is no date.
std::optional<Timestamp> short_timestamp_in(re2::StringPiece line) {
  static const re2::RE2 k_regex(
      R"((?:(?:^|\s)[IWEF](\d{4})?(\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{3,9})\b)"
      R"(|(?:^\s*|\[)(\d\d)/(\d\d) (\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?))",
      re2::RE2::Quiet);
  std::string year, fraction;
  std::array<std::string, 5> of_glog, of_slash;
  std::string slash_fraction;
  if (!re2::RE2::PartialMatch(line, k_regex, &year, &of_glog[0], &of_glog[1], &of_glog[2],
                              &of_glog[3], &of_glog[4], &fraction, &of_slash[0], &of_slash[1],
                              &of_slash[2], &of_slash[3], &of_slash[4], &slash_fraction)) {
    return std::nullopt;
  }
  const bool is_glog = !of_glog[0].empty();
  const auto number = [&](std::size_t i) {
    return static_cast<int>(parse_finite(is_glog ? of_glog[i] : of_slash[i]).value_or(0.0));
  };
  Timestamp stamp;
  if (!year.empty()) stamp.year = static_cast<int>(parse_finite(year).value_or(0.0));
  stamp.month = static_cast<unsigned>(number(0));
  stamp.day = static_cast<unsigned>(number(1));
  stamp.of_day_s =
      seconds_of_day(number(2), number(3), number(4), is_glog ? fraction : slash_fraction);
  return stamp;
}

/// Parses `[ Wed Jun  6 16:01:16 2018 ]` of C's `ctime` at the start of the line. Later in a line
/// it may be an estimate.
std::optional<Timestamp> c_timestamp_in(re2::StringPiece line) {
  static const re2::RE2 k_regex(
      R"(^\W*(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +)"
      R"((\d{1,2}) (\d\d):(\d\d):(\d\d) (\d{4})\b)",
      re2::RE2::Quiet);
  Timestamp stamp;
  std::string month;
  int year = 0, hour = 0, minute = 0, second = 0;
  if (!re2::RE2::PartialMatch(line, k_regex, &month, &stamp.day, &hour, &minute, &second, &year)) {
    return std::nullopt;
  }
  constexpr std::string_view k_months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  stamp.year = year;
  stamp.month = static_cast<unsigned>(k_months.find(month) / 3 + 1);
  stamp.of_day_s = seconds_of_day(hour, minute, second, "");
  return stamp;
}

/// Returns days since 1970; nullopt for an invalid date.
std::optional<double> days_of(int year, unsigned month, unsigned day) {
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok()) return std::nullopt;
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

struct BarTime {
  std::string count;   ///< `50` of `50/500`; empty if it is no whole number
  std::string length;  ///< `500` of `50/500`; empty if the bar has none
  double elapsed_s = 0.0;
};

std::optional<BarTime> bar_time_in(re2::StringPiece line) {
  // Forms: `50/500 [01:12<08:39, 1.2it/s]`; without a length `50it [01:12, 1.2it/s]`.
  static const re2::RE2 k_regex(R"((?:(?:(?:^|[\s|:])(\d+))?(?:/(\S{1,20})|[a-z]{2,20}) )?)"
                                R"(\[(?:(\d{1,4}):)?(\d{1,2}):(\d\d)(?:<|, *[\d.?]+ ?[^\s,\]]*/))",
                                re2::RE2::Quiet);
  BarTime bar;
  std::string hours;
  int minutes = 0, seconds = 0;
  if (!re2::RE2::PartialMatch(line, k_regex, &bar.count, &bar.length, &hours, &minutes, &seconds)) {
    return std::nullopt;
  }
  const double hours_s = hours.empty() ? 0.0 : k_hour_s * parse_finite(hours).value_or(0.0);
  bar.elapsed_s = hours_s + 60.0 * minutes + seconds;
  return bar;
}

}  // namespace

std::optional<double> LineClock::day_without_year(unsigned month, unsigned day) {
  // The true year is unknown. It matters only if it is a leap year: 2028 is one, 2025 is not.
  if (year_ == 0) year_ = 2025;
  if (month == 2 && day == 29 && !std::chrono::year(year_).is_leap()) {
    days_before_year_ += *days_of(year_, 1, 1) - *days_of(2028, 1, 1);
    year_ = 2028;
  }
  auto days = days_of(year_, month, day);
  // A date more than half a year before the last one is in the next year.
  if (days && last_day_ && *days + days_before_year_ + 183.0 < *last_day_) {
    ++year_;
    days = days_of(year_, month, day);
  }
  if (!days) return std::nullopt;
  last_day_ = *days + days_before_year_;
  return last_day_;
}

std::optional<LineClock::Date> LineClock::date_in(std::string_view line) {
  const re2::StringPiece text(line.data(), line.size());
  auto stamp = full_timestamp_in(text);
  if (!stamp) stamp = short_timestamp_in(text);
  if (!stamp) stamp = c_timestamp_in(text);
  if (!stamp) return std::nullopt;
  std::optional<double> days;
  if (!stamp->year) {
    has_short_dates_ = has_short_dates_ || year_ == 0;
    days = day_without_year(stamp->month, stamp->day);
  } else {
    // Times of earlier dates without a year have another origin.
    if (has_short_dates_) return std::nullopt;
    days = days_of(*stamp->year, stamp->month, stamp->day);
    if (days) year_ = *stamp->year;
    if (days) last_day_ = days;
  }
  if (!days) return std::nullopt;
  return Date{k_day_s * *days + stamp->of_day_s - stamp->ahead_of_utc_s.value_or(0.0),
              stamp->ahead_of_utc_s.has_value()};
}

double LineClock::without_change_of_hour(double local_s) {
  if (local_s_) {
    // Clocks were put forward if the last line came shortly before the skipped hour and this line
    // shortly after it. Clocks were put back if the last line came shortly before the end of the
    // repeated hour, and this line shortly after its start. Shortly is 2 s to 15 min.
    const double gap_s = std::clamp(longest_gap_s_, 2.0, 900.0);
    const double hour_s = k_hour_s * std::floor(local_s / k_hour_s);
    const bool may_be_changed = is_at_night(hour_s) && local_s - hour_s <= gap_s;
    const auto is_shortly_before = [&](double time_s) {
      return *local_s_ < time_s && *local_s_ >= time_s - gap_s;
    };
    if (may_be_changed && is_shortly_before(hour_s - k_hour_s)) {
      change_s_ -= k_hour_s;
    } else if (may_be_changed && is_shortly_before(hour_s + k_hour_s)) {
      change_s_ += k_hour_s;
    } else {
      longest_gap_s_ = std::max(longest_gap_s_, local_s - *local_s_);
    }
  }
  local_s_ = local_s;
  return local_s + change_s_;
}

bool LineClock::continues(const Bar& before, const Bar& drawn) const {
  const double advance_s = drawn.elapsed_s - before.elapsed_s;
  if (advance_s < 0.0) return false;
  const bool is_full_again = before.is_full && drawn.is_full && drawn.count <= before.count;
  if (!is_full_again) return true;
  // A full bar may be drawn again with another value. Its elapsed time then includes the time of
  // the bars in between.
  const double passed_s = now_s_.value_or(0.0) - before.now_s;
  if (drawn.is_bare && source_ == Source::progress_bars && passed_s > 0.0) return false;
  return drawn.epoch == before.epoch && 2.0 * (advance_s + k_clock_rounding_s) >= passed_s;
}

double LineClock::by_bar(const Bar* before, const Bar& drawn) const {
  const double now_s = now_s_.value_or(0.0);
  if (before != nullptr && continues(*before, drawn)) {
    return std::max(now_s, before->now_s + drawn.elapsed_s - before->elapsed_s);
  }
  if (source_ != Source::timestamps) return now_s + drawn.elapsed_s;
  // A bar that first appears after the latest date may have begun at any time before.
  return before == nullptr ? now_s : std::max(now_s, before->now_s + drawn.elapsed_s);
}

std::optional<double> LineClock::read(std::string_view line) {
  const re2::StringPiece text(line.data(), line.size());
  const auto timestamp = date_in(line);
  const auto bar = bar_time_in(text);
  if (timestamp) {
    const double time_s =
        timestamp->is_utc ? timestamp->time_s : without_change_of_hour(timestamp->time_s);
    if (source_ == Source::progress_bars) origin_s_ = time_s - *now_s_;
    source_ = Source::timestamps;
    now_s_ = time_s - origin_s_;
  }
  if (!bar) return now_s_;
  const auto before = bars_.find(bar->length);
  const bool is_full = !bar->count.empty() && (bar->length.empty() || bar->count == bar->length);
  Bar drawn{bar->elapsed_s, parse_finite(bar->count).value_or(0.0), is_full, epoch_of(line)};
  const auto parsed = parse_progress_bar(line);
  drawn.is_bare = parsed && parsed->description.empty() && parsed->postfix.empty();
  drawn.now_s =
      timestamp ? *now_s_ : by_bar(before == bars_.end() ? nullptr : &before->second, drawn);
  now_s_ = drawn.now_s;
  if (source_ == Source::none) source_ = Source::progress_bars;
  if (before == bars_.end() && bars_.size() >= k_most_counters) bars_.clear();
  bars_[bar->length] = drawn;
  return now_s_;
}

}  // namespace steptune
