// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html/decisions_section.hpp"

#include <fmt/format.h>

#include "tuner/loop/decision_log.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/html/html_text.hpp"

namespace steptune {
namespace {

// The first tell what guards ask for, the latest how the study ended.
constexpr std::size_t k_first = 20;
constexpr std::size_t k_latest = 380;

std::string row_html(const StudyDecision& decision) {
  return "<tr>" + html_cell(format_utc(decision.at_wall_s)) + html_cell(decision.kind) +
         html_cell(decision.trial > 0 ? std::to_string(decision.trial) : "", true) +
         html_cell(numbers_text(decision)) + html_cell(decision.text) + "</tr>";
}

}  // namespace

std::string decisions_table(const StudyReport& report) {
  const std::vector<StudyDecision>& decisions = report.decisions;
  if (decisions.empty()) return "<p>No decision is recorded.</p>\n";
  std::string body;
  const std::size_t left_out =
      decisions.size() > k_first + k_latest ? decisions.size() - k_first - k_latest : 0;
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    if (left_out > 0 && i == k_first) {
      body += fmt::format(
          "<tr><td colspan=\"5\">{} more: <code>steptune show {} --decisions</code></td></tr>",
          left_out, html_escaped(report.words.study));
      i += left_out;
    }
    body += row_html(decisions[i]);
  }
  return html_table(" id=\"study-decisions\"",
                    html_head_cell("time") + html_head_cell("decision") +
                        html_head_cell("trial", true) + html_head_cell("numbers") +
                        html_head_cell("in words"),
                    body);
}

}  // namespace steptune
