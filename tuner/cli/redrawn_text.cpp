// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/redrawn_text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "tuner/cli/terminal.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

// xterm's control sequences (invisible-island.net/xterm/ctlseqs).
constexpr const char* k_enter = "\x1b[?1049h\x1b[?25l";
constexpr const char* k_leave = "\x1b[?25h\x1b[?1049l";
constexpr const char* k_home = "\x1b[H";
constexpr const char* k_erase_line = "\x1b[K";
constexpr const char* k_erase_below = "\x1b[J";

}  // namespace

std::string first_lines(const std::string& text, std::size_t rows, std::size_t columns) {
  if (rows == 0) return text;
  std::size_t taken = 0;
  std::size_t kept_end = 0;  // end of the lines that fit above `(N more lines)`
  std::size_t more = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::size_t width = display_width(std::string_view(text).substr(begin, end - begin - 1));
    taken += columns == 0 ? 1 : std::max<std::size_t>(1, (width + columns - 1) / columns);
    if (taken < rows) {
      kept_end = end;
    } else {
      ++more;
    }
    begin = end;
  }
  return taken <= rows ? text : text.substr(0, kept_end) + fmt::format("({} more lines)\n", more);
}

RedrawnText::RedrawnText(Console& console)
    : console_(console), in_place_(is_smart_terminal(STDOUT_FILENO, console.environment())) {
  if (in_place_) console_.result(k_enter);
}

RedrawnText::~RedrawnText() {
  end();
}

void RedrawnText::show(std::string text) {
  if (in_place_) {
    // Leave the last row free, because writing there would scroll the screen.
    const std::size_t rows = terminal_rows(STDOUT_FILENO);
    std::string drawn = k_home;
    for (const char c : first_lines(text, rows > 1 ? rows - 1 : 0, terminal_width(STDOUT_FILENO)))
      drawn += c == '\n' ? fmt::format("{}\n", k_erase_line) : std::string(1, c);
    console_.result(drawn + k_erase_below);
  } else if (text != shown_) {
    console_.result(shown_.empty() ? text : "\n" + text);
  }
  shown_ = std::move(text);
}

void RedrawnText::end() {
  if (ended_ || !in_place_) return;
  ended_ = true;
  console_.result(k_leave + shown_);
}

}  // namespace steptune
