// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/survey_text.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "tuner/init/study_text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

std::string shown_at(const Json& event, const char* key) {
  const auto found = event.find(key);
  if (found == event.end()) return "";
  return printable_line(plain_text(*found), 60);
}

/// Returns `PyTorch 1.13.1 on cpu; steps by optimizer (SGD), 64 samples each by loader`.
std::string found_text(const Survey& survey) {
  const Json& patched = survey.log.event("patched");
  const Json& program = survey.log.event("program");
  std::string frameworks = shown_at(patched, "frameworks");
  if (frameworks.empty()) frameworks = "PyTorch " + shown_at(patched, "torch");
  std::string text = fmt::format("{} on {}", frameworks, shown_at(patched, "device"));
  if (!program.is_object()) return text;
  text += fmt::format("; steps by {}", shown_at(program, "counts"));
  const auto optimizers = program.find("optimizers");
  if (optimizers != program.end() && optimizers->is_array() && !optimizers->empty()) {
    std::vector<std::string> names;
    for (const Json& name : *optimizers) {
      if (name.is_string()) names.push_back(printable_line(name.get<std::string>(), 60));
    }
    text += fmt::format(" ({})", fmt::join(names, ", "));
  }
  if (const auto samples = survey.samples_per_step()) {
    text += fmt::format(", {} samples each by {}", format_number(*samples),
                        shown_at(program, "samples_by"));
  }
  return text;
}

std::string step_text(const Survey& survey) {
  const auto seconds = survey.seconds_per_step();
  if (!seconds) return "";
  std::string text = format_duration(*seconds) + " a step";
  std::vector<std::pair<double, std::string>> parts;
  for (const auto& [name, share] : survey.part_shares())
    parts.emplace_back(share, name);
  std::ranges::sort(parts, std::greater<>());
  for (const auto& [share, name] : parts)
    text += fmt::format("{}{} {:.0f} %", text.find(':') == std::string::npos ? ": " : ", ",
                        printable_line(name, 40), 1e2 * share);
  return text;
}

}  // namespace

std::string draft_text(const Survey& survey, const Draft& draft) {
  std::string text = fmt::format("found   {}\n", found_text(survey));
  if (const std::string step = step_text(survey); !step.empty()) {
    text += fmt::format("today   {}\n", step);
  }
  if (!draft.ceiling.empty()) text += fmt::format("limit   {}\n", draft.ceiling);
  if (const Json& separate = survey.log.event("separate"); separate.is_object()) {
    text += fmt::format("note    {}\n", printable_line(text_at(separate, "why"), 300));
  }
  text += titled_lines("tunes", draft.tuned);
  text += titled_lines("leaves", draft.left_out);
  if (survey.ended && survey.ended->kind != OutcomeKind::completed) {
    text += fmt::format("note    the program failed after {:.0f} steps, and so may trials: {}\n",
                        survey.last.step.value_or(0.0), printable_line(survey.ended->detail, 300));
  } else if (survey.ended) {
    text += fmt::format(
        "note    the program ended by itself after {:.0f} steps: such short trials say little "
        "about a longer run; let the command train longer if the planned run does\n",
        survey.last.step.value_or(0.0));
  }
  if (is_diverged(survey)) {
    text +=
        "note    the loss is NaN or infinite already: the program does not learn, whatever its "
        "speed\n";
  }
  if (std::ranges::find(survey.phases, "checkpoint") != survey.phases.end()) {
    text +=
        "note    the program writes checkpoints, and so will each trial: give it a scratch "
        "folder\n";
  }
  text.pop_back();
  return text;
}

std::string quoted_command(const std::vector<std::string>& argv) {
  // Headings of existing files are compared with this text, so the length must stay.
  constexpr std::size_t k_longest = 500;
  return printable_line(shell_quoted(argv), k_longest);
}

std::string survey_heading(const std::vector<std::string>& argv) {
  return fmt::format("// Written by steptune from {}, run unchanged: ", quoted_command(argv));
}

std::string study_file_text(const Survey& survey, const Draft& draft,
                            const std::optional<PlannedLength>& planned,
                            const std::vector<std::string>& argv, const std::string& options) {
  std::string text = fmt::format(
      "{}{}.\n"
      "// Change it as you like; 'steptune run' continues with it. Knobs are explained in "
      "docs/hooks.md.\n{}",
      survey_heading(argv), found_text(survey), options);
  if (planned) text += fmt::format("// planned run: {}\n", printable_line(planned->why));
  for (const std::string& left : draft.left_out)
    text += fmt::format("// not tuned: {}\n", printable_line(left, 300));
  const StudyComments comments{{"/loading_ceiling", "measured with cached batches"}};
  return text + study_text(draft.document, comments) + "\n";
}

}  // namespace steptune
