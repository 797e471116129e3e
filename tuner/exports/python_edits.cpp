// SPDX-License-Identifier: Apache-2.0
#include "tuner/exports/python_edits.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"
#include "trial_runner/hooks/knob_table.hpp"

namespace steptune {
namespace {

/// As Python writes it.
std::string python_literal(const Value& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "True" : "False";
  if (std::holds_alternative<std::string>(value)) return dump_json(to_json(value));
  return to_text(value);
}

/// The text of an edit for a value: the same for all, or by value.
std::string edit_text(const Json& edit, const Value& value, const std::string& shown) {
  const Json* text = edit.is_object() ? find_by_value(edit, value) : &edit;
  return text == nullptr || !text->is_string() ? std::string()
                                               : with_value(text->get<std::string>(), shown);
}

std::vector<std::string> edit_lines(const Json& edit, const Value& value) {
  const Json* lines = edit.is_object() ? find_by_value(edit, value) : &edit;
  std::vector<std::string> result;
  if (lines == nullptr) return result;
  for (const Json& line : *lines)
    result.push_back(with_value(line.get<std::string>(), python_literal(value)));
  return result;
}

/// What the hook told of the knob; all is unknown where it told nothing.
KnobState state_of(const HookLog& seen, const std::string& knob) {
  const auto found = seen.knobs().find(knob);
  return found == seen.knobs().end() ? KnobState() : found->second;
}

/// `# train.py:114`, without what is called there: the line below shows it.
std::string comment_of(const std::vector<std::string>& places) {
  std::vector<std::string> files;
  for (const std::string& place : places) {
    std::string file = printable_line(place.substr(0, place.rfind(' ')), 200);
    if (std::ranges::find(files, file) == files.end()) files.push_back(std::move(file));
  }
  return fmt::format("# {}\n", fmt::join(files, ", "));
}

/// Arguments of one call in the program, of several knobs.
struct CallEdit {
  std::string call;
  std::vector<std::string> places;
  std::vector<std::string> arguments;
  std::string remark;
};

/// The name of what is called there, where the table cannot know it: an optimizer's class.
std::string called_at(const std::vector<std::string>& places, const std::string& otherwise) {
  if (places.empty()) return otherwise;
  const std::size_t blank = places.front().rfind(' ');
  return blank == std::string::npos ? otherwise
                                    : printable_line(places.front().substr(blank + 1), 100);
}

class Edits {
 public:
  void add(const Knob& knob, const Value& value, const KnobState& state) {
    if (knob.edit.contains("call")) {
      const auto call = knob.edit["call"].get<std::string>();
      CallEdit& edit = edit_of(call, state.where);
      edit.arguments.push_back(edit_text(knob.edit["argument"], value, python_literal(value)));
      for (const std::string& argument : state.also)
        edit.arguments.push_back(printable_line(argument, 100));
      if (knob.edit.contains("remark")) edit.remark = edit_text(knob.edit["remark"], value, "");
    } else if (knob.edit.contains("lines")) {
      add_lines(edit_lines(knob.edit["lines"], value), state.where);
    } else if (knob.edit.contains("shell")) {
      const std::string words = edit_text(knob.edit["shell"], value, to_text(value));
      if (!words.empty()) shell_ += " " + words;
    }
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const CallEdit& call : calls_) {
      if (!call.places.empty()) text += comment_of(call.places);
      text += fmt::format("{}(..., {}){}{}\n", called_at(call.places, call.call),
                          fmt::join(call.arguments, ", "), call.remark.empty() ? "" : "  # ",
                          call.remark);
    }
    text += placed_lines_;
    if (!first_lines_.empty()) text += "# first in the program\nimport torch\n" + first_lines_;
    if (!shell_.empty()) text += "# before the command\n#" + shell_ + "\n";
    return text.empty() ? "# nothing to change: the program is best as it is\n" : text;
  }

 private:
  void add_lines(const std::vector<std::string>& lines, const std::vector<std::string>& places) {
    if (lines.empty()) return;
    const bool is_setting = lines.front().starts_with("torch.");
    std::string& text = places.empty() && is_setting ? first_lines_ : placed_lines_;
    if (!places.empty()) {
      text += comment_of(places);
    } else if (!is_setting) {
      text += "# where the model is called\n";
    }
    for (const std::string& line : lines)
      text += line + "\n";
  }
  CallEdit& edit_of(const std::string& call, const std::vector<std::string>& places) {
    const auto same = std::ranges::find_if(
        calls_, [&](const CallEdit& edit) { return edit.call == call && edit.places == places; });
    if (same != calls_.end()) return *same;
    return calls_.emplace_back(CallEdit{call, places, {}, {}});
  }

  std::vector<CallEdit> calls_;
  std::string placed_lines_;
  std::string first_lines_;
  std::string shell_;
};

}  // namespace

std::string python_edits(const std::map<std::string, Value>& knobs, const HookLog& seen) {
  Edits edits;
  for (const Knob& knob : pytorch_knobs()) {
    const auto value = knobs.find(knob.name);
    if (value == knobs.end()) continue;
    const KnobState state = state_of(seen, knob.name);
    // In force without any change. A baseline may have no value of it, such as `prefetch_factor`
    // where that has no workers.
    if (state.today == to_json(value->second)) continue;
    edits.add(knob, value->second, state);
  }
  return edits.text();
}

}  // namespace steptune
