// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/line_clock.hpp"

#include <chrono>
#include <string>

#include <re2/re2.h>

#include "common/text.hpp"

namespace steptune {
namespace {

/// Dates are those of one zone throughout, so the zone does not matter.
std::optional<double> timestamp_s(re2::StringPiece line) {
  static const re2::RE2 k_regex(
      R"((\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,6}))?)", re2::RE2::Quiet);
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  std::string fraction;
  if (!re2::RE2::PartialMatch(line, k_regex, &year, &month, &day, &hour, &minute, &second,
                              &fraction)) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  const double part_s = fraction.empty() ? 0.0 : parse_finite("0." + fraction).value_or(0.0);
  return 86400.0 * static_cast<double>(days) + 3600.0 * hour + 60.0 * minute + second + part_s;
}

std::optional<double> bar_elapsed_s(re2::StringPiece line) {
  static const re2::RE2 k_regex(R"(\[(?:(\d{1,4}):)?(\d{1,2}):(\d\d)<)", re2::RE2::Quiet);
  std::string hours;
  int minutes = 0, seconds = 0;
  if (!re2::RE2::PartialMatch(line, k_regex, &hours, &minutes, &seconds)) return std::nullopt;
  const double hours_s = hours.empty() ? 0.0 : 3600.0 * parse_finite(hours).value_or(0.0);
  return hours_s + 60.0 * minutes + seconds;
}

}  // namespace

std::optional<double> LineClock::read(std::string_view line) {
  const re2::StringPiece text(line.data(), line.size());
  if (const auto time_s = timestamp_s(text)) {
    source_ = Source::timestamps;
    now_s_ = time_s;
  } else if (source_ != Source::timestamps) {
    if (const auto elapsed_s = bar_elapsed_s(text)) {
      source_ = Source::progress_bars;
      if (*elapsed_s < bar_s_) bars_s_ += bar_s_;
      bar_s_ = *elapsed_s;
      now_s_ = bars_s_ + bar_s_;
    }
  }
  return now_s_;
}

}  // namespace steptune
