// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html/html_report.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/html/analysis_sections.hpp"
#include "tuner/report/html/chart_data.hpp"
#include "tuner/report/html/html_tables.hpp"
#include "tuner/report/html/html_text.hpp"
#include "tuner/report/machine_hours.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

std::string section(const std::string& id, const std::string& title, const std::string& content) {
  return fmt::format("<section id=\"{0}\"><h2>{1}</h2>\n{2}</section>\n", id, title, content);
}

/// Returns a placeholder for a chart. The placeholder stays hidden without JavaScript.
std::string chart(const std::string& id, const std::string& title, const std::string& explanation) {
  return fmt::format(
      "<figure class=\"chart\" id=\"{}\" hidden><figcaption><h3>{}</h3><p>{}</p></figcaption>"
      "<div class=\"canvas\"></div></figure>\n",
      id, title, explanation);
}

/// Returns the headline and the line below it.
VerdictSentence headline(const StudyReport& report) {
  if (!report.recommendation) {
    const StudyRecord& study = report.board.study;
    return {study.status == StudyStatus::finished ? "No configuration works within all limits"
                                                  : "This study has no recommendation yet",
            {}};
  }
  VerdictSentence sentence = verdict_sentence(*report.recommendation, report.words);
  char& first = sentence.verdict.front();
  first = static_cast<char>(std::toupper(static_cast<unsigned char>(first)));
  return sentence;
}

std::string notes_list(const std::vector<std::string>& notes) {
  if (notes.empty()) return {};
  std::string html = "<ul class=\"notes\">\n";
  for (const std::string& note : notes)
    html += fmt::format("<li>{}</li>\n", html_escaped(note));
  return html + "</ul>\n";
}

/// Returns the notes about the table of trials. Leaves out a note if the recommendation has a note
/// on the same subject.
std::vector<std::string> table_notes(const StudyReport& report) {
  std::vector<std::string> texts;
  for (const Note& note : report.board.notes) {
    const bool is_said = report.recommendation && note.subject != NoteSubject::other &&
                         std::ranges::find(report.recommendation->notes, note.subject,
                                           &Note::subject) != report.recommendation->notes.end();
    if (!is_said) texts.push_back(note.text);
  }
  return texts;
}

std::string tile(const std::string& title, const std::string& value, const std::string& detail) {
  return fmt::format("<div class=\"tile\"><h3>{}</h3><p class=\"value\">{}</p><p>{}</p></div>\n",
                     html_escaped(title), html_escaped(value), html_escaped(detail));
}

/// Returns `baseline -> recommended, 95 % interval 3.0 d to 3.2 d`.
std::string objective_detail(const Recommendation& recommendation, const ObjectiveView& view,
                             std::size_t i) {
  std::string text = "baseline \u2192 recommended";
  const auto& widths = recommendation.incumbent_half_widths;
  if (i >= widths.size() || !std::isfinite(widths[i])) return text;
  const double value = recommendation.incumbent_objectives[i];
  const std::string low = view.text(std::max(0.0, value - widths[i]));
  const std::string high = view.text(value + widths[i]);
  // Both ends look the same with the shown digits, so give the half-width as a percentage.
  if (low == high && value != 0.0)
    return text + ", 95 % interval \u00b1 " + format_percent(widths[i] / std::abs(value));
  return text + fmt::format(", 95 % interval {} to {}", low, high);
}

std::string objective_tiles(const StudyReport& report) {
  const Recommendation& recommendation = *report.recommendation;
  const auto& objectives = report.words.objectives;
  std::string tiles;
  const std::size_t count = std::min({objectives.size(), recommendation.baseline_objectives.size(),
                                      recommendation.incumbent_objectives.size()});
  for (std::size_t i = 0; i < count; ++i) {
    const double from = recommendation.baseline_objectives[i];
    const double to = recommendation.incumbent_objectives[i];
    const ObjectiveView& view = objectives[i];
    const std::string what = view.planned_run ? "planned run, " + view.title() : view.title();
    tiles += keeps_baseline(recommendation.claim)
                 ? tile(what, view.text(from), "with the baseline")
                 : tile(what, view.text(from) + " \u2192 " + view.text(to),
                        objective_detail(recommendation, view, i));
  }
  return tiles;
}

std::string tuning_tile(const StudyReport& report) {
  const StudyRecord& study = report.board.study;
  std::string value = format_duration(study.elapsed_s);
  if (report.board.machine_hours) {
    value += ", " + machine_hours_text(report.board.machine_hours->total());
  }
  if (report.tuning_usd > 0.0) value += ", " + format_usd(report.tuning_usd);
  std::string detail = counts_text(report.board.counts);
  if (report.recommendation) {
    if (const auto share = report.recommendation->payback_share) {
      detail = *share <= 1.0 ? fmt::format("paid back after {} of the planned run; {}",
                                           format_percent(*share), detail)
                             : fmt::format("not paid back by one planned run; {}", detail);
    }
  }
  return tile("tuning took", value, detail);
}

std::string summary(const StudyReport& report) {
  const VerdictSentence sentence = headline(report);
  std::string html = fmt::format("<p class=\"headline\">{}</p>\n", html_escaped(sentence.verdict));
  if (!sentence.evidence.empty())
    html += fmt::format("<p class=\"evidence\">{}</p>\n", html_escaped(sentence.evidence));
  html += "<div class=\"tiles\">\n";
  if (report.recommendation) html += objective_tiles(report);
  html += tuning_tile(report) + "</div>\n";
  return report.recommendation ? html + notes_list(texts_of(report.recommendation->notes)) : html;
}

std::string usage(const StudyReport& report) {
  if (!report.recommendation) return "<p>There is no recommendation yet.</p>\n";
  std::string html = configuration_table(report);
  std::string commands;
  if (report.command) {
    commands += fmt::format("cd {}\n", shell_quoted(report.command->working_directory.string()));
    for (const auto& [name, value] : report.command->environment)
      commands += fmt::format("export {}={}\n", name, shell_quoted(value));
    commands += shell_quoted(report.command->argv) + "\n";
    html += fmt::format("<p>The measured command:</p>\n<pre>{}</pre>\n", html_escaped(commands));
  }
  const std::string study = html_escaped(report.words.study);
  if (!report.words.hooked) {
    return html + fmt::format("<p>From a script: <code>steptune best {} --format {}</code></p>\n",
                              study, report.words.has_command ? "args" : "json");
  }
  // Show `steptune exec`, because the command line alone does not include the settings.
  return html + fmt::format(
                    "<p>From a script: <code>steptune exec {0}</code>. The lines to change "
                    "in the program: <code>steptune best {0} --format python</code></p>\n",
                    study);
}

/// Returns `Time against cost`.
std::string front_title(const ObjectiveView& first, const ObjectiveView& second) {
  std::string title = printable_line(first.title() + " against " + second.title());
  title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
  return title;
}

std::string charts(const StudyReport& report) {
  std::string html =
      chart("history", "The search",
            "Each trial in the order in which it was proposed, with its 95 % interval; "
            "the line is the best so far, the dashed one the baseline.");
  const auto& objectives = report.board.objectives;
  if (objectives.size() > 1) {
    html += chart("front", html_escaped(front_title(objectives[0], objectives[1])),
                  has_trade_offs(report.board)
                      ? "Trials with the 95 % intervals of both objectives; the line joins the "
                        "best and its trade-offs, which are measurably better in the other "
                        "objective."
                      : "Trials with the 95 % intervals of both objectives. There is no trade-off: "
                        "no trial is measurably better than the best in the other objective.");
  }
  if (!report.board.parameters.empty()) {
    html += chart("parallel", "Parameters",
                  "A line for each trial through its values; blue ones are the best. Drag along an "
                  "axis to select trials; click to clear.");
    html +=
        chart("slices", "One parameter at a time",
              "Every measured trial over each parameter: where the lower edge moves, the parameter "
              "matters.");
  }
  html += chart("timeline", "When each trial ran",
                "From left to right and row by row, since the first trial; several lanes if trials "
                "ran at the same time or on different machines.");
  html += chart(
      "trace", "Step time of a trial",
      "Seconds per step between reports since the trial's start: start-up and warm-up, then "
      "the measured window; phases, disturbed times and what the scheduler decided are marked.");
  return html;
}

/// Returns the sections on the importance of parameters and on the bottleneck.
std::string analysis_sections(const StudyReport& report) {
  if (!report.analysis) {
    return section("importance", "Which parameters mattered",
                   fmt::format("<p>Not known: {}</p>\n", html_escaped(report.no_analysis)));
  }
  std::string page;
  page += section(
      "importance", "Which parameters mattered",
      chart("importance-chart", "Share of the variance",
            "What each parameter explains over the whole search space, and the strongest pairs; "
            "lines are 95 % intervals.") +
          chart("ablation-chart", "From baseline to best",
                "Each bar is one parameter set to the best configuration's value, the largest gain "
                "first; a dashed bar is the model's estimate.") +
          importance_html(report.analysis->importance));
  if (report.analysis->bottleneck) {
    page += section("bottleneck", "What the steps wait for",
                    bottleneck_html(*report.analysis->bottleneck) +
                        chart("bottleneck-chart", "Parts of a step, and what its time depends on",
                              "Shares of the parts that the program reported; for each parameter "
                              "how many times as long a step takes with its worst value as with "
                              "its best."));
  }
  return page;
}

}  // namespace

std::string html_report(const StudyReport& report, const LivePage* live) {
  const StudyRecord& study = report.board.study;
  std::string status = to_text(study.status);
  if (!study.stop_reason.empty()) status += ": " + study.stop_reason;
  PageParts parts;
  parts.title = study.name;
  parts.header = fmt::format("{}<h1>{}</h1><p>{} \u00b7 begun {} \u00b7 seed {}</p>",
                             live == nullptr ? "" : "<p><a href=\"/\">All studies</a></p>",
                             html_escaped(study.name), html_escaped(status),
                             format_utc(study.created_wall_s), study.seed);
  std::string& page = parts.content;
  page += fmt::format("<section id=\"summary\">\n{}</section>\n", summary(report));
  page += section("use", "How to use it", usage(report));
  page += section("charts", "What was found",
                  "<noscript><p>The charts need JavaScript; all figures are in the tables.</p>"
                  "</noscript>\n" +
                      charts(report));
  if (report.board.scaling) {
    page += section("scaling", "More machines",
                    chart("scaling-chart", "Time against the number of machines",
                          "The best configuration of each count with its 95 % interval; the band "
                          "is the law's, the dashed line an ideal speed-up.") +
                        scaling_html(*report.board.scaling));
  }
  page += analysis_sections(report);
  page += section("leaderboard", "All trials",
                  "<p class=\"controls\" hidden><label>Filter <input type=\"search\" id=\"filter\" "
                  "placeholder=\"bf16 workers=4 ...\"></label> <span id=\"count\"></span> Click a "
                  "column to sort by it, a trial to see its step times.</p>\n" +
                      trials_table(report) + "<div id=\"table-notes\">" +
                      notes_list(table_notes(report)) + "</div>\n");
  page += section("decisions", "What was decided about the study", decisions_table(report));
  page += section("bill", "The bill", bill_table(report));
  page += section("machine", "Machine and versions", machine_table(report));
  parts.data = script_json(chart_data(report));
  parts.scripts = {"d3.js",          "tables.js",       "timeline.js", "scaling.js",
                   "chart_parts.js", "trial_charts.js", "charts.js"};
  return framed_page(parts, live);
}

}  // namespace steptune
