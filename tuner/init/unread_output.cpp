// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/unread_output.hpp"

#include <fmt/format.h>

#include "common/text.hpp"

namespace steptune {
namespace {

/// True if the program still runs, but printed nothing in the second half of the time watched.
bool fell_silent(const UnreadOutput& output) {
  return !output.has_ended && output.silent_s > 0.5 * output.watched_s;
}

std::string times_text(const RepeatedLine& line) {
  return fmt::format("no known format reads this line, which came {} times", line.count);
}

std::string shown(const RepeatedLine& line) {
  return printable_line(line.line, 300);
}

std::string indented(std::string text, const std::string& margin) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text.insert(at + 1, margin);
  return margin + text;
}

/// Returns a note on the unit of the proposed counter if it counts percents or epochs; otherwise an
/// empty text.
std::string counter_note(const RepeatedLine& line) {
  if (line.unit == CountUnit::percent) {
    return "one percent counts as a sample: add \"unit\": \"percent\", and let \"planned_run\" "
           "have "
           "\"samples\": 100";
  }
  if (line.unit == CountUnit::epochs) {
    return "an epoch counts as a sample: add \"unit\": \"epochs\", and let \"planned_run\" have as "
           "many \"samples\" as epochs";
  }
  return "";
}

}  // namespace

std::string unread_note(const UnreadOutput& output) {
  if (output.is_empty) {
    return output.has_ended ? std::string("the program ended without printing anything")
                            : fmt::format("the program printed nothing within {}",
                                          format_duration(output.watched_s));
  }
  if (fell_silent(output)) {
    return fmt::format("the program printed no progress, and nothing at all in the last {}",
                       format_duration(output.silent_s));
  }
  if (output.repeated)
    return fmt::format("{}: {}", times_text(*output.repeated), shown(*output.repeated));
  return output.has_ended ? "the program ended without printing progress"
                          : "no progress was recognised in its output: no line repeats with other "
                            "numbers";
}

std::string unread_text(const UnreadOutput& output) {
  constexpr const char* k_advice =
      "let the program report its steps: one line of code, or lines \"[steptune] {...}\"\n"
      "  (docs/reporting.md); a PyTorch program reports by itself under the hook (docs/hooks.md)";
  std::string text;
  if (output.is_empty || fell_silent(output)) {
    text = fmt::format(
        "{}\n"
        "  if the program buffers its output, let it flush, or begin the command with stdbuf -oL;\n"
        "  otherwise {}",
        unread_note(output), k_advice);
  } else if (!output.repeated) {
    text = fmt::format("{}\n  {}", unread_note(output), k_advice);
  } else {
    const RepeatedLine& line = *output.repeated;
    text = fmt::format("{}:\n    {}\n", times_text(line), shown(line));
    if (line.metrics.empty()) {
      text += fmt::format("  none of its numbers grows steadily, so none counts steps:\n  {}",
                          k_advice);
    } else {
      text += fmt::format("  this part of a study file reads it:\n{}",
                          indented(reports_text(line), "    "));
    }
    if (const std::string note = counter_note(line); !note.empty()) text += "\n  " + note;
  }
  if (output.log.empty()) return text;
  return text + fmt::format("\n  its output is in {}", printable_line(output.log.string(), 300));
}

std::string unread_comment(const UnreadOutput& output) {
  if (fell_silent(output) || !output.repeated || output.repeated->metrics.empty()) return "";
  const RepeatedLine& line = *output.repeated;
  std::string text = fmt::format("{}:\n  {}\nRemove these comment marks, and it is read:\n",
                                 times_text(line), shown(line));
  if (const std::string note = counter_note(line); !note.empty()) text += note + "\n";
  return text + reports_text(line) + ",";
}

}  // namespace steptune
