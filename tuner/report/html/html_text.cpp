// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html/html_text.hpp"

#include <fmt/format.h>

#include "common/utf8.hpp"

namespace steptune {

std::string html_escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : as_utf8(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte >= 0x20U && byte != 0x7FU) || c == '\n' || c == '\t') result += c;
      }
    }
  }
  return result;
}

std::string html_table(const std::string& attributes, const std::string& head,
                       const std::string& body) {
  return fmt::format(
      "<div class=\"scroll\"><table{}><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>\n",
      attributes, head, body);
}

std::string html_table(const TextTable& table) {
  const auto& columns = table.columns();
  std::string head;
  for (const TextTable::Column& column : columns)
    head += html_head_cell(column.title, column.align == Align::right);
  std::string body;
  for (const auto& row : table.rows()) {
    body += fmt::format("<tr><th scope=\"row\">{}</th>", html_escaped(row.front()));
    for (std::size_t i = 1; i < row.size(); ++i)
      body += html_cell(row[i], columns[i].align == Align::right);
    body += "</tr>";
  }
  return html_table("", head, body);
}

std::string html_head_cell(const std::string& title, bool is_number) {
  return fmt::format("<th scope=\"col\"{}>{}</th>", is_number ? " class=\"number\"" : "",
                     html_escaped(title));
}

std::string html_cell(const std::string& text, bool is_number) {
  return fmt::format("<td{}>{}</td>", is_number ? " class=\"number\"" : "", html_escaped(text));
}

std::string script_json(const Json& json) {
  std::string result;
  for (const char c : dump_json(json)) {
    // JSON has these characters only within strings.
    if (c == '<') {
      result += "\\u003c";
    } else if (c == '>') {
      result += "\\u003e";
    } else if (c == '&') {
      result += "\\u0026";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace steptune
