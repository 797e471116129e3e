// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html/decisions_section.hpp"

#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "tuner/history/decision_text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/html/html_text.hpp"

namespace steptune {
namespace {

// The first decisions show the guards' limits, the latest show how the study ended.
constexpr std::size_t k_first = 20;
constexpr std::size_t k_latest = 380;

std::optional<double> number_of(const StudyDecision& decision, const char* name) {
  const auto found = decision.numbers.find(name);
  if (found == decision.numbers.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

/// Returns the verdict for a text such as `2.29 times as fast as the baseline`.
const char* verdict_words(const StudyDecision& decision) {
  const auto found = decision.numbers.find("verdict");
  if (found == decision.numbers.end()) return "";
  if (*found == "faster") return ": faster";
  if (*found == "hidden") return ": faster, unless a buffer hides a slow loader";
  if (*found == "not_faster") return ": not shown to be faster";
  return *found == "open" ? ": too close to call so far" : "";
}

/// Returns a sentence made from a decision's numbers; empty if the decision has its own text.
std::string in_words(const StudyDecision& decision) {
  const auto ratio = number_of(decision, "ratio");
  const auto low = number_of(decision, "low");
  const auto high = number_of(decision, "high");
  const auto pairs = number_of(decision, "pairs");
  if (decision.kind == "judge" && ratio && low && high && pairs) {
    return fmt::format(
        "after {:.3g} pair{} of fresh runs {:.3g} times as fast as the baseline ({:.3g} to "
        "{:.3g}){}",
        *pairs, *pairs == 1.0 ? "" : "s", *ratio, *low, *high, verdict_words(decision));
  }
  const auto log_ratio = number_of(decision, "log_ratio");
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
                    html_head_cell("decision") + html_head_cell("trial", true) +
                        html_head_cell("in words") + html_head_cell("numbers") +
                        html_head_cell("time"),
                    body);
}

}  // namespace steptune
