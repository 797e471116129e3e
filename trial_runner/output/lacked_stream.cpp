// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/output/lacked_stream.hpp"

#include <algorithm>
#include <array>

#include "common/text.hpp"

namespace steptune {
namespace {

// In lower case. Messages of the C library (ENOTTY), coreutils' stty and tty, Python's termios,
// getpass and curses, ncurses' tput, docker, Go's and Node's terminal packages.
constexpr std::array<std::string_view, 10> k_terminal{
    "inappropriate ioctl for device",
    "not a tty",
    "not a terminal",
    "is not a teletype",
    "stty: 'standard input'",
    "termios.error",
    "setupterm: could not find terminal",
    "no value for $term",
    "cbreak() returned err",
    "term environment variable not set",
};

// Messages of Python's input(), Java's Scanner, Ruby's gets, bash's `read -e`, and C++ programs.
constexpr std::array<std::string_view, 5> k_input{
    "eof when reading a line",
    "eoferror",
    "nosuchelementexception: no line found",
    "end of file on stdin",
    "unexpected end of input from stdin",
};

template <std::size_t Count>
bool has_any(const std::string& text, const std::array<std::string_view, Count>& signs) {
  return std::ranges::any_of(signs,
                             [&](std::string_view sign) { return text.find(sign) != text.npos; });
}

}  // namespace

LackedStream lacked_stream(std::string_view last_words) {
  const std::string text = lower_case(last_words);
  if (has_any(text, k_terminal)) return LackedStream::terminal;
  if (has_any(text, k_input)) return LackedStream::input;
  return LackedStream::none;
}

std::string advice_for(LackedStream lacked) {
  switch (lacked) {
    case LackedStream::none:
      break;
    case LackedStream::terminal:
      return "it needs a terminal: \"terminal\": true in the study file gives it one";
    case LackedStream::input:
      return "it reads standard input: --stdin FILE, or \"stdin\" in the study file, gives it one";
  }
  return "";
}

}  // namespace steptune
