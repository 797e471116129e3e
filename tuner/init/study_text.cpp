// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/study_text.hpp"

#include <fmt/format.h>

#include "common/document/fault.hpp"
#include "common/text.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_longest_line = 100;
constexpr std::size_t k_indent = 2;

bool has_comment_below(const StudyComments& comments, const std::string& pointer) {
  const auto next = comments.upper_bound(pointer + "/");
  return next != comments.end() && next->first.starts_with(pointer + "/");
}

std::string comment_lines(const std::string& comment, const std::string& margin) {
  std::string text;
  for (std::size_t begin = 0; begin <= comment.size();) {
    const std::size_t end = std::min(comment.find('\n', begin), comment.size());
    const std::string line = printable_line(comment.substr(begin, end - begin), 1000);
    text += fmt::format("{}// {}\n", margin, line);
    begin = end + 1;
  }
  return text;
}

std::string folded_value(const Json& json, const StudyComments& comments,
                         const std::string& pointer, std::size_t indent) {
  const bool is_plain = !json.is_structured() || json.empty();
  std::string line = dump_json(json);
  const bool fits = line.size() + indent <= k_longest_line && !has_comment_below(comments, pointer);
  if (is_plain || fits) return line;
  const std::string margin(indent + k_indent, ' ');
  std::string text;
  std::size_t place = 0;
  for (const auto& [key, value] : json.items()) {
    const std::string below =
        pointer + "/" +
        (json.is_object() ? document::pointer_token(key) : fmt::format("{}", place));
    ++place;
    text += text.empty() ? "\n" : ",\n";
    const auto comment = comments.find(below);
    if (comment != comments.end()) text += comment_lines(comment->second, margin);
    text += margin;
    if (json.is_object()) text += dump_json(Json(key)) + ": ";
    text += folded_value(value, comments, below, indent + k_indent);
  }
  const bool is_object = json.is_object();
  return fmt::format("{}{}\n{}{}", is_object ? '{' : '[', text, std::string(indent, ' '),
                     is_object ? '}' : ']');
}

}  // namespace

std::string study_text(const Json& document, const StudyComments& comments) {
  return folded_value(document, comments, "", 0);
}

}  // namespace steptune
