// SPDX-License-Identifier: Apache-2.0
#include "tuner/exports/python_edits.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"
#include "trial_runner/hooks/knob_table.hpp"
#include "tuner/report/knob_edit.hpp"

namespace steptune {
namespace {

/// Returns the knob's state as the hook reported it; an empty state if the hook reported nothing.
KnobState state_of(const HookLog& seen, const std::string& knob) {
  const auto found = seen.knobs().find(knob);
  return found == seen.knobs().end() ? KnobState() : found->second;
}

/// Returns a comment with the places of the call: `# train.py:114`.
std::string comment_of(const KnobState& state) {
  return fmt::format("# {}\n", fmt::join(edit_places(state), ", "));
}

/// Arguments of one call in the program, from several knobs.
struct CallEdit {
  KnobEdit edit;    ///< edit of the first knob
  KnobState state;  ///< state of the first knob, with the places
  std::vector<std::string> arguments;
  std::string remark;
};

class Edits {
 public:
  void add(const Knob& knob, const Value& value, const KnobState& state) {
    const KnobEdit edit = knob_edit(knob, value, state);
    if (!edit.call.empty()) {
      CallEdit& call = call_of(edit, state);
      call.arguments.push_back(edit.argument);
      for (const std::string& argument : state.also)
        call.arguments.push_back(printable_line(argument, 100));
      if (!edit.remark.empty()) call.remark = edit.remark;
    }
    add_lines(edit, state);
    if (!edit.shell.empty()) shell_ += " " + edit.shell;
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const CallEdit& call : calls_) {
      if (!call.state.where.empty()) text += comment_of(call.state);
      text += fmt::format("{}(..., {}){}{}\n", called_there(call.edit, call.state.where),
                          fmt::join(call.arguments, ", "), call.remark.empty() ? "" : "  # ",
                          call.remark);
    }
    text += placed_lines_;
    if (!first_lines_.empty()) text += "# first in the program\nimport torch\n" + first_lines_;
    if (!shell_.empty()) text += "# before the command\n#" + shell_ + "\n";
    return text.empty() ? "# nothing to change: the program already has these settings\n" : text;
  }

 private:
  void add_lines(const KnobEdit& edit, const KnobState& state) {
    if (edit.lines.empty()) return;
    const bool is_setting = edit.lines.front().starts_with("torch.");
    std::string& text = state.where.empty() && is_setting ? first_lines_ : placed_lines_;
    if (!state.where.empty()) {
      text += comment_of(state);
    } else if (!is_setting) {
      text += fmt::format("# {}\n", edit.place);
    }
    for (const std::string& line : edit.lines)
      text += line + "\n";
  }
  CallEdit& call_of(const KnobEdit& edit, const KnobState& state) {
    const auto same = std::ranges::find_if(calls_, [&](const CallEdit& call) {
      return call.edit.call == edit.call && call.state.where == state.where;
    });
    if (same != calls_.end()) return *same;
    return calls_.emplace_back(CallEdit{edit, state, {}, {}});
  }

  std::vector<CallEdit> calls_;
  std::string placed_lines_;
  std::string first_lines_;
  std::string shell_;
};

}  // namespace

std::string python_edits(const std::map<std::string, Value>& knobs, const HookLog& seen) {
  Edits edits;
  for (const Knob& knob : python_knobs()) {
    const auto value = knobs.find(knob.name);
    if (value == knobs.end()) continue;
    const KnobState state = state_of(seen, knob.name);
    // Skip values that the program already uses. Such a value may differ from the baseline, for
    // example `prefetch_factor` if the baseline has no workers.
    if (state.today == to_json(value->second)) continue;
    edits.add(knob, value->second, state);
  }
  return edits.text();
}

}  // namespace steptune
