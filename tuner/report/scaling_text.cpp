// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/enum_names.hpp"
#include "common/text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/scaling_report.hpp"
#include "tuner/report/text_table.hpp"

namespace steptune {
namespace {

/// Returns `$12.30`, or `8.2 machine-hours` if the study has no price.
std::string scaling_cost_text(const StudyScaling& study, double cost) {
  return study.has_price ? format_usd(cost) : format_number(cost) + " machine-hours";
}

/// Returns `12 % (8-15)`.
std::string percent_interval(const Estimate& share) {
  const double mean = 100.0 * share.mean;
  const int digits = std::abs(mean) < 10.0 ? 1 : 0;
  return fmt::format("{:.{}f} % ({:.{}f} to {:.{}f})", mean, digits, 100.0 * share.low, digits,
                     100.0 * share.high, digits);
}

std::string time_interval(const Estimate& time) {
  const std::string mean = format_duration(time.mean);
  const std::string low = format_duration(time.low);
  const std::string high = format_duration(time.high);
  return low == mean && high == mean ? mean : fmt::format("{} ({} to {})", mean, low, high);
}

std::string law_words(const Scaling& scaling) {
  if (scaling.fits.empty()) return scaling.why_no_law;
  const ScalingFit& first = scaling.fits.front();
  if (!first.aicc) {
    return fmt::format("{}, assumed: {} counts cannot tell the laws apart, four or more can",
                       law_title(first.best.law), scaling.counts.size());
  }
  double growing = 0.0;
  for (const ScalingFit& fit : scaling.fits)
    growing += work_grows(fit.best.law) ? fit.weight : 0.0;
  std::string text = fmt::format("{} ({} of the evidence", law_title(first.best.law),
                                 format_percent(first.weight));
  text += scaling.law_family_is_decided
              ? std::string(")")
              : fmt::format(
                    "); too close to call if the work is fixed ({}) or grows with the count ({})",
                    format_percent(1.0 - growing), format_percent(growing));
  if (scaling.scatter > 2.0) {
    text += fmt::format("; the times differ from it {} times as much as their intervals explain",
                        format_number(std::round(10.0 * scaling.scatter) / 10.0));
  }
  return text;
}

std::string shares_words(const Scaling& scaling) {
  if (scaling.fits.empty()) return {};
  const ScalingFit& fit = scaling.fits.front();
  std::string text =
      "serial " +
      percent_interval(fit.estimate([](const ScalingCurve& curve) { return curve.serial; }));
  if (work_grows(fit.best.law)) {
    text += " of the time without communication";
  } else {
    text += " of the time on one";
  }
  const std::string cost =
      percent_interval(fit.estimate([](const ScalingCurve& curve) { return curve.communication; }));
  switch (fit.best.law) {
    case ScalingLaw::amdahl:
    case ScalingLaw::gustafson:
      return text + ", a ring all-reduce included; " +
             (fit.aicc && scaling.fits.back().aicc
                  ? "no other communication is seen"
                  : "other communication cannot be estimated from so few counts");
    case ScalingLaw::amdahl_linear:
      return text + ", communication " + cost + " more for each further one";
    case ScalingLaw::amdahl_log:
      return text + ", communication " + cost + " more for each doubling";
    case ScalingLaw::gustafson_log:
      break;
  }
  return text + ", communication " + cost + " of a step for each doubling";
}

std::string greatest_words(const Scaling& scaling) {
  if (scaling.fits.empty() || scaling.counts.size() < 2) return {};
  const double most = scaling.counts.back().count;
  const ScalingFit& fit = scaling.fits.front();
  const auto share = [&](double TimeParts::*member) {
    return percent_interval(
        fit.estimate([&](const ScalingCurve& curve) { return curve.shares(most).*member; }));
  };
  std::string text =
      fmt::format("on {}: serial {}", count_text(scaling.question.count_parameter, most),
                  share(&TimeParts::serial));
  if (communicates(fit.best.law)) text += ", communication " + share(&TimeParts::communication);
  return text + ", parallel " + share(&TimeParts::parallel);
}

std::string knee_words(const Scaling& scaling) {
  if (!scaling.knee) return {};
  const ScalingKnee& knee = *scaling.knee;
  std::string text = count_text(scaling.question.count_parameter, knee.count);
  if (knee.high > knee.low)
    text += fmt::format(" ({} to {})", format_number(knee.low), format_number(knee.high));
  const std::string wanted = format_percent(scaling.question.min_efficiency);
  text +=
      knee.is_last
          ? fmt::format(": up to the most that was measured, each further one gains at least {}",
                        wanted)
          : fmt::format(": beyond it, each further one gains less than {}", wanted);
  return text;
}

std::string choice_words(const StudyScaling& study) {
  const Scaling& scaling = study.scaling;
  const auto deadline = scaling.question.deadline_s;
  const std::string in_time =
      deadline ? "in " + format_duration(*deadline) : std::string("of those measured");
  if (!scaling.cheapest) {
    const ScalingCount& fastest = *std::ranges::min_element(
        scaling.counts, {}, [](const ScalingCount& count) { return count.time_s.mean; });
    return fmt::format("{}: none; the fastest that was measured is {}, {}", in_time,
                       count_text(scaling.question.count_parameter, fastest.count),
                       format_duration(fastest.time_s.mean));
  }
  const ScalingChoice& choice = *scaling.cheapest;
  std::string text = fmt::format(
      "{}: {}, {}, {}", in_time, count_text(scaling.question.count_parameter, choice.count),
      time_interval(choice.time_s), scaling_cost_text(study, choice.cost.mean));
  if (!choice.measured) text += "; by the law, not measured";
  if (!choice.surely_in_time) text += "; it may miss the deadline";
  return text;
}

}  // namespace

std::string count_text(const std::string& over, double count) {
  const std::string name = elide_middle(printable_line(over), 24);
  if (over.ends_with('s')) {
    const std::size_t plural = over.ends_with("sses") ? 2 : 1;
    return fmt::format("{} {}", format_number(count),
                       count == 1.0 ? name.substr(0, name.size() - plural) : name);
  }
  return fmt::format("{}={}", name, format_number(count));
}

std::string law_title(ScalingLaw law) {
  switch (law) {
    case ScalingLaw::amdahl:
      return "Amdahl's law";
    case ScalingLaw::amdahl_linear:
      return "Amdahl's law with communication that grows with each one (Gunther's scalability law)";
    case ScalingLaw::amdahl_log:
      return "Amdahl's law with communication that grows with each doubling";
    case ScalingLaw::gustafson:
      return "Gustafson's law";
    case ScalingLaw::gustafson_log:
      break;
  }
  return "Gustafson's law with communication that grows with each doubling";
}

std::string to_text(ScalingLaw law) {
  static constexpr auto k_names = enum_names<ScalingLaw>({
      {ScalingLaw::amdahl, "amdahl"},
      {ScalingLaw::amdahl_linear, "amdahl_linear"},
      {ScalingLaw::amdahl_log, "amdahl_log"},
      {ScalingLaw::gustafson, "gustafson"},
      {ScalingLaw::gustafson_log, "gustafson_log"},
  });
  return std::string(k_names.name_of(law));
}

ScalingWords in_words(const StudyScaling& study) {
  const Scaling& scaling = study.scaling;
  return {law_words(scaling), shares_words(scaling), greatest_words(scaling), knee_words(scaling),
          choice_words(study)};
}

TextTable scaling_table(const StudyScaling& study, TableDetail detail) {
  const Scaling& scaling = study.scaling;
  const bool alike = scaling.counts.front().efficiency.has_value();
  const bool intervals = detail < TableDetail::no_intervals;
  std::vector<TextTable::Column> columns{
      {elide_middle(scaling.question.count_parameter, 20), Align::right}, {"time", Align::right}};
  if (intervals) columns.push_back({"95 %", Align::left});
  columns.push_back({study.has_price ? "cost" : "machine-hours", Align::right});
  if (detail < TableDetail::least) columns.push_back({"speed-up", Align::right});
  if (alike) columns.push_back({"efficiency", Align::right});
  if (alike && detail < TableDetail::least) columns.push_back({"marginal gain", Align::right});
  columns.push_back({"trial", Align::right});
  if (detail == TableDetail::all) columns.push_back({"best of", Align::right});
  TextTable table(std::move(columns));
  const auto share = [&](const Estimate& estimate) {
    return intervals ? percent_interval(estimate) : format_percent(estimate.mean);
  };
  for (const ScalingCount& count : scaling.counts) {
    std::vector<std::string> cells{format_number(count.count), format_duration(count.time_s.mean)};
    if (intervals) {
      cells.push_back(fmt::format("{} to {}", format_duration(count.time_s.low),
                                  format_duration(count.time_s.high)));
    }
    cells.push_back(study.has_price ? format_usd(count.cost.mean) : format_number(count.cost.mean));
    if (detail < TableDetail::least) cells.push_back(format_ratio(count.speed_up.mean));
    if (alike) cells.push_back(share(*count.efficiency));
    if (alike && detail < TableDetail::least)
      cells.push_back(count.marginal_gain ? share(*count.marginal_gain) : "-");
    cells.push_back(fmt::format("{}{}", count.trial, count.completed ? "" : " (stopped early)"));
    if (detail == TableDetail::all) cells.push_back(fmt::format("{}", count.trials));
    table.add_row(std::move(cells));
  }
  return table;
}

std::string scaling_text(const StudyScaling& study, const TextStyle& style) {
  TextTable table = scaling_table(study, TableDetail::all);
  for (const TableDetail detail :
       {TableDetail::no_trials, TableDetail::no_intervals, TableDetail::least}) {
    if (style.width > 0 && table.width() > style.width) table = scaling_table(study, detail);
  }
  std::string text = table.text();
  if (style.color) {
    const std::size_t end = text.find('\n');
    text = fmt::format("\x1b[2m{}\x1b[0m{}", text.substr(0, end), text.substr(end));
  }
  const ScalingWords words = in_words(study);
  const std::size_t width = readable_width(style.width);
  const auto add = [&](const char* name, const std::string& words_of_it) {
    if (!words_of_it.empty()) text += wrapped(fmt::format("{}: {}", name, words_of_it), width);
  };
  text += "\n";
  add("law", words.law);
  add("shares", words.shares);
  if (!words.at_greatest.empty()) text += wrapped(words.at_greatest, width);
  add("knee", words.knee);
  add("cheapest", words.choice);
  if (!study.planned_run) {
    text += wrapped("times and costs are for a million " + study.unit.plural, width);
  }
  for (const std::string& remark : study.remarks)
    text += wrapped(remark, width);
  return text;
}

}  // namespace steptune
