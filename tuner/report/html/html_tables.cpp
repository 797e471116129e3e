// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html/html_tables.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "trial_runner/measure/report_times.hpp"
#include "tuner/history/decision_text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/html/html_text.hpp"
#include "tuner/report/leaderboard_columns.hpp"
#include "tuner/report/library_versions.hpp"

namespace steptune {
namespace {

const TrialRecord* trial_of(const StudyReport& report, std::optional<std::int64_t> number) {
  if (!number) return nullptr;
  const auto row = std::ranges::find_if(
      report.board.rows, [&](const LeaderboardRow& r) { return r.trial.number == *number; });
  return row == report.board.rows.end() ? nullptr : &row->trial;
}

std::string value_text(const Configuration& configuration, const std::string& name) {
  const Value* value = configuration.find(name);
  return value == nullptr ? "-" : to_text(*value);
}

std::string marks_of(const LeaderboardRow& row) {
  std::string text;
  const auto add = [&](bool holds, const char* word) {
    if (holds) text += (text.empty() ? "" : ", ") + std::string(word);
  };
  add(row.best, "best");
  add(row.tied, "tied with the best");
  add(row.pareto, "Pareto front");
  add(row.disturbed, "disturbed");
  return text;
}

/// Returns the line of the bill that a trial belongs to.
std::string bill_line(const TrialRecord& trial) {
  if (is_confirmation(trial.purpose)) return "confirmation";
  if (trial.purpose == TrialPurpose::baseline) return "baseline";
  if (trial.purpose == TrialPurpose::sentinel) return "baseline again, against drift";
  switch (trial.status) {
    case TrialStatus::completed:
      return "search, completed";
    case TrialStatus::stopped_early:
      return "search, stopped early";
    default:
      return "search, without a result";
  }
}

// The first decisions show the guards' limits, the latest show how the study ended.
constexpr std::size_t k_shown_at_each_end = 200;

/// Returns a decision's verdict, to be appended to a text such as
/// `2.29 times as fast as the baseline`.
const char* verdict_words(const StudyDecision& decision) {
  const std::string verdict = text_at(decision.numbers, "verdict");
  if (verdict == "faster") return ": faster";
  if (verdict == "hidden") return ": faster, unless a buffer hides a slow loader";
  if (verdict == "not_faster") return ": not shown to be faster";
  return verdict == "open" ? ": too close to call so far" : "";
}

/// Returns a sentence made from a decision's numbers; empty if the decision has its own text.
std::string in_words(const StudyDecision& decision) {
  const auto ratio = number_at(decision.numbers, "ratio");
  const auto low = number_at(decision.numbers, "low");
  const auto high = number_at(decision.numbers, "high");
  const auto pairs = number_at(decision.numbers, "pairs");
  if (decision.kind == "judge" && ratio && low && high && pairs) {
    return fmt::format(
        "after {:.3g} pair{} of fresh runs {:.3g} times as fast as the baseline ({:.3g} to "
        "{:.3g}){}",
        *pairs, *pairs == 1.0 ? "" : "s", *ratio, *low, *high, verdict_words(decision));
  }
  const auto log_ratio = number_at(decision.numbers, "log_ratio");
  if (decision.kind == "drift" && log_ratio) {
    return decision.numbers.value("significant", false)
               ? fmt::format("the machine takes {:.3g} times as long as when the baseline ran",
                             std::exp(*log_ratio))
               : "the machine is as fast as when the baseline ran";
  }
  if (decision.kind == "finalist") return "runs again, in turn with the baseline";
  return {};
}

std::string row_html(const StudyDecision& decision) {
  std::string cell = html_escaped(in_words(decision));
  if (!decision.text.empty()) {
    cell += (cell.empty() ? "" : "<br>") + html_escaped(decision.text);
  }
  return "<tr>" + html_cell(decision.kind) +
         html_cell(decision.trial > 0 ? std::to_string(decision.trial) : "", true) + "<td>" + cell +
         "</td><td><small>" + html_escaped(numbers_text(decision)) + "</small></td>" +
         html_cell(format_utc(decision.at_wall_s)) + "</tr>";
}

}  // namespace

std::string configuration_table(const StudyReport& report) {
  const TrialRecord* baseline = trial_of(report, report.baseline);
  Configuration best;
  if (report.recommendation) best = report.recommendation->configuration;
  std::vector<std::string> names = report.words.parameter_order;
  std::string body;
  for (const std::string& name : names) {
    const std::string to = value_text(best, name);
    const std::string from = baseline == nullptr ? "-" : value_text(baseline->configuration, name);
    body += fmt::format("<tr{}><th scope=\"row\">{}</th>{}{}</tr>",
                        from == to ? "" : " class=\"changed\"", html_escaped(name), html_cell(from),
                        html_cell(to));
  }
  return html_table(
      "", html_head_cell("parameter") + html_head_cell("baseline") + html_head_cell("recommended"),
      body);
}

std::string trials_table(const StudyReport& report) {
  std::vector<std::string> parameters = report.board.parameters;
  std::vector<LeaderboardColumn> columns = leaderboard_columns(report.board, parameters);
  static const std::set<std::string> k_further{"origin",    "peak_memory_bytes", "spent_s",
                                               "spent_usd", "machine_hours",     "failure"};
  std::erase_if(columns, [&](const LeaderboardColumn& column) {
    if (column.is_default) return false;
    if (!k_further.contains(column.name)) return true;
    return std::ranges::none_of(report.board.rows, [&](const LeaderboardRow& row) {
      return !column.text(row).empty() && column.text(row) != format_usd(0.0);
    });
  });
  std::ranges::stable_partition(columns, &LeaderboardColumn::is_default);
  for (LeaderboardColumn& column : columns) {
    if (column.is_status) column.text = brief_status;
  }
  std::string head = html_head_cell("rank", true);
  for (const LeaderboardColumn& column : columns)
    head += html_head_cell(column.title, column.align == Align::right);
  head += html_head_cell("marks");
  std::string body;
  for (const LeaderboardRow& row : report.board.rows) {
    body += fmt::format("<tr data-trial=\"{}\"{}>", row.trial.number,
                        row.best ? " class=\"best\"" : "");
    body += html_cell(row.rank ? std::to_string(*row.rank) : "", true);
    for (const LeaderboardColumn& column : columns) {
      const auto value = column.value(row);
      const bool is_number = value && !std::holds_alternative<std::string>(*value);
      body +=
          fmt::format("<td{}{}>{}</td>", column.align == Align::right ? " class=\"number\"" : "",
                      is_number ? fmt::format(" data-v=\"{:.6g}\"", to_number(*value)) : "",
                      html_escaped(column.text(row)));
    }
    body += html_cell(marks_of(row)) + "</tr>";
  }
  return html_table(" id=\"trials\" class=\"sortable\"", head, body);
}

std::string bill_table(const StudyReport& report) {
  struct Line {
    int trials = 0;
    double seconds = 0.0;
    double usd = 0.0;
    double machine_hours = 0.0;
  };
  std::map<std::string, Line> lines;
  Line total;
  for (const LeaderboardRow& row : report.board.rows) {
    for (Line* line : {&lines[bill_line(row.trial)], &total}) {
      ++line->trials;
      line->seconds += row.trial.spent_s;
      line->usd += row.trial.spent_usd;
      line->machine_hours += row.machine_hours.value_or(0.0);
    }
  }
  const auto& hours = report.board.machine_hours;
  Line unused;
  unused.usd = report.board.study.overhead_usd;
  unused.machine_hours = hours ? hours->unused : 0.0;
  for (const UnusedTime& time : report.unused)
    unused.seconds += time.seconds();
  total.seconds += unused.seconds;
  total.usd += unused.usd;
  total.machine_hours += unused.machine_hours;
  Line between;
  between.usd = report.tuning_usd - total.usd;
  // Ignore a smaller difference: both sums add the same prices in different orders, so rounding
  // makes them differ.
  const double rounding_usd = k_rounding * report.tuning_usd;
  if (between.usd > rounding_usd) total.usd = report.tuning_usd;
  const auto line_html = [&hours](const std::string& name, const std::string& trials,
                                  const std::string& seconds, const Line& line,
                                  const char* attributes) {
    return fmt::format(
        "<tr{}><th scope=\"row\">{}</th>{}{}{}</tr>", attributes, html_escaped(name),
        html_cell(trials, true), html_cell(seconds, true),
        html_cell(hours ? format_number(line.machine_hours) : format_usd(line.usd), true));
  };
  std::string body;
  for (const auto& [name, line] : lines) {
    body += line_html(name, std::to_string(line.trials), format_duration(line.seconds), line, "");
  }
  if (unused.usd > 0.0 || unused.seconds > 0.0) {
    body += line_html("idle machines", "",
                      unused.seconds > 0.0 ? format_duration(unused.seconds) : "", unused, "");
  }
  if (between.usd > rounding_usd) {
    body += line_html("the tuner's machine between trials", "", "", between, "");
  }
  body += line_html("total", std::to_string(total.trials), format_duration(total.seconds), total,
                    " class=\"total\"");
  return html_table("",
                    html_head_cell("for") + html_head_cell("trials", true) +
                        html_head_cell("billed", true) +
                        html_head_cell(hours ? "machine-hours" : "cost", true),
                    body);
}

std::string machine_table(const StudyReport& report) {
  if (report.sessions.empty()) {
    return "<p>Not recorded: an older version of Steptune ran this study.</p>\n";
  }
  std::set<std::string> names;
  for (const SessionRecord& session : report.sessions) {
    for (const auto& [name, text] : session.machine)
      names.insert(name);
  }
  // For a study continued over many nights, show the first and the latest runs.
  constexpr std::size_t k_shown = 4;
  std::vector<const SessionRecord*> shown;
  for (std::size_t i = 0; i < report.sessions.size(); ++i) {
    if (i == 0 || i + k_shown > report.sessions.size()) shown.push_back(&report.sessions[i]);
  }
  std::string head = html_head_cell("");
  for (const SessionRecord* session : shown)
    head += html_head_cell(format_utc(session->started_wall_s));
  std::string body;
  for (const std::string& name : names) {
    std::string row = fmt::format("<th scope=\"row\">{}</th>", html_escaped(with_blanks(name)));
    std::set<std::string> texts;
    for (const SessionRecord* session : shown) {
      const auto found = session->machine.find(name);
      const bool is_known = found != session->machine.end();
      const std::string text = is_known ? found->second : "-";
      // A hook reports its program's libraries only with the baseline. If a later run of the tuner
      // has no baseline, its missing libraries are no change.
      if (is_known || !is_of_python(name) || knows_libraries(session->machine)) texts.insert(text);
      row += html_cell(text);
    }
    body += fmt::format("<tr{}>{}</tr>", texts.size() > 1 ? " class=\"changed\"" : "", row);
  }
  return html_table("", head, body);
}

std::string decisions_table(const StudyReport& report) {
  const std::vector<StudyDecision>& decisions = report.decisions;
  if (decisions.empty()) return "<p>No decision is recorded.</p>\n";
  std::string body;
  const std::size_t left_out =
      decisions.size() - std::min(decisions.size(), 2 * k_shown_at_each_end);
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    if (left_out > 0 && i == k_shown_at_each_end) {
      body += fmt::format(
          "<tr><td colspan=\"5\">{} more: <code>steptune show {} --decisions</code></td></tr>",
          left_out, html_escaped(report.words.study));
      i += left_out;
    }
    body += row_html(decisions[i]);
  }
  return html_table(" id=\"study-decisions\"",
                    html_head_cell("decision") + html_head_cell("trial", true) +
                        html_head_cell("in words") + html_head_cell("numbers") +
                        html_head_cell("time"),
                    body);
}

}  // namespace steptune
