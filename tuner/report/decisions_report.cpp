// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/decisions_report.hpp"

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/history/decision_text.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

constexpr std::string_view k_indent = "  ";

std::string indented(const std::string& text, std::size_t width) {
  const std::string line = printable_line(text, k_any_length);
  return line.empty() ? line : wrapped_entry(std::string(k_indent) + line, width, k_indent.size());
}

}  // namespace

std::string decisions_text(const std::vector<StudyDecision>& decisions, std::size_t width) {
  if (decisions.empty()) return "no decision is recorded\n";
  std::string text;
  for (const StudyDecision& decision : decisions) {
    text += fmt::format("{}  {}{}\n", format_utc(decision.at_wall_s), printable_line(decision.kind),
                        decision.trial > 0 ? fmt::format("  trial {}", decision.trial) : "");
    text += indented(numbers_text(decision), width) + indented(decision.text, width);
  }
  return text;
}

Json decisions_json(const std::vector<StudyDecision>& decisions) {
  Json list = Json::array();
  for (const StudyDecision& decision : decisions) {
    list.push_back({{"time", format_utc(decision.at_wall_s)},
                    {"kind", decision.kind},
                    {"trial", decision.trial > 0 ? Json(decision.trial) : Json(nullptr)},
                    {"text", decision.text},
                    {"numbers", decision.numbers}});
  }
  return list;
}

}  // namespace steptune
