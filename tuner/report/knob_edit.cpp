// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/knob_edit.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/text.hpp"

namespace steptune {
namespace {

std::string python_literal(const Value& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "True" : "False";
  if (std::holds_alternative<std::string>(value)) return dump_json(to_json(value));
  return to_text(value);
}

/// Returns the text of an edit for a value. `edit` is one text for all values, or an object with
/// one text for each value.
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

}  // namespace

KnobEdit knob_edit(const Knob& knob, const Value& value, const KnobState& state) {
  KnobEdit edit;
  if (const Json& own = state.edit; own.is_object() && own.contains("argument")) {
    // The program prints the hook's lines, so they may contain anything.
    edit.call = printable_line(own["call"].get<std::string>());
    edit.argument = printable_line(edit_text(own["argument"], value, python_literal(value)));
    if (!edit.argument.empty()) return edit;
    edit.call.clear();
  }
  if (knob.edit.contains("call")) {
    edit.call = knob.edit["call"].get<std::string>();
    edit.argument = edit_text(knob.edit["argument"], value, python_literal(value));
    if (knob.edit.contains("remark")) edit.remark = edit_text(knob.edit["remark"], value, "");
  } else if (knob.edit.contains("lines")) {
    edit.lines = edit_lines(knob.edit["lines"], value);
    edit.place = knob.edit.value("place", "where the model is called");
  } else if (knob.edit.contains("shell")) {
    edit.shell = edit_text(knob.edit["shell"], value, to_text(value));
  }
  return edit;
}

std::vector<std::string> edit_places(const KnobState& state) {
  std::vector<std::string> files;
  for (const std::string& place : state.where) {
    std::string file = printable_line(place.substr(0, place.rfind(' ')), 200);
    if (std::ranges::find(files, file) == files.end()) files.push_back(std::move(file));
  }
  return files;
}

std::string called_there(const KnobEdit& edit, const std::vector<std::string>& where) {
  if (where.empty()) return edit.call;
  const std::size_t blank = where.front().rfind(' ');
  return blank == std::string::npos ? edit.call : printable_line(where.front().substr(blank + 1));
}

}  // namespace steptune
