// SPDX-License-Identifier: Apache-2.0
#include "tuner/serve/index_page.hpp"

#include <ranges>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/html/html_text.hpp"
#include "tuner/report/leaderboard.hpp"

namespace steptune {
namespace {

std::string best_values(const StudyFigures& study) {
  std::string text;
  if (study.best.empty()) return "-";
  for (std::size_t i = 0; i < study.objectives.size() && i < study.best.size(); ++i) {
    const ObjectiveView& view = study.objectives[i];
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", view.title(), view.text(study.best[i]));
  }
  return text;
}

std::string study_row(const StudyFigures& study) {
  const StudyRecord& record = study.listed.record;
  return fmt::format("<tr><th scope=\"row\"><a href=\"/studies/{}\">{}</a></th>", record.id,
                     html_escaped(printable_line(record.name))) +
         html_cell(to_text(record.status)) +
         html_cell(study.fault.empty() ? study.listed.result_text()
                                       : "cannot be read: " + printable_line(study.fault)) +
         html_cell(best_values(study)) + html_cell(counts_text(study.listed.counts)) +
         html_cell(format_duration(record.elapsed_s), true) +
         html_cell(format_usd(study.usd()), true) + html_cell(format_utc(record.created_wall_s)) +
         "</tr>";
}

}  // namespace

std::string index_page(const std::vector<StudyFigures>& studies, const LivePage& live) {
  std::string body;
  for (const StudyFigures& study : studies | std::views::reverse)
    body += study_row(study);
  PageParts parts;
  parts.title = "Studies";
  parts.header = fmt::format("<h1>Studies</h1><p>{} in this database</p>", studies.size());
  parts.content = "<section id=\"studies\">\n";
  parts.content +=
      studies.empty()
          ? "<p>There is none yet: <code>steptune run STUDY</code> starts one.</p>\n"
          : html_table("",
                       html_head_cell("study") + html_head_cell("status") +
                           html_head_cell("result") + html_head_cell("best") +
                           html_head_cell("trials") + html_head_cell("tuning took", true) +
                           html_head_cell("cost", true) + html_head_cell("begun"),
                       body);
  parts.content += "</section>\n";
  return framed_page(parts, &live);
}

std::string problem_page(const std::string& title, const std::string& text) {
  PageParts parts;
  parts.title = title;
  parts.header = "<p><a href=\"/\">All studies</a></p><h1>" + html_escaped(title) + "</h1>";
  parts.content = fmt::format("<section><pre>{}</pre></section>\n", html_escaped(text));
  const LivePage never_changes{};
  return framed_page(parts, &never_changes);
}

}  // namespace steptune
