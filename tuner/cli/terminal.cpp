// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/terminal.hpp"

#include <array>

#include <sys/ioctl.h>
#include <unistd.h>

namespace steptune {
namespace {

bool term_is_usable(const Environment& environment) {
  const auto term = environment("TERM");
  return term && !term->empty() && *term != "dumb";
}

}  // namespace

bool decide_color(ColorChoice choice, bool is_terminal, const Environment& environment) {
  if (choice == ColorChoice::always) return true;
  if (choice == ColorChoice::never) return false;
  if (const auto no_color = environment("NO_COLOR"); no_color && !no_color->empty()) return false;
  for (const char* name : {"FORCE_COLOR", "CLICOLOR_FORCE"}) {
    if (const auto force = environment(name); force && !force->empty() && *force != "0")
      return true;
  }
  return is_terminal && term_is_usable(environment);
}

bool is_smart_terminal(int fd, const Environment& environment) {
  return isatty(fd) == 1 && term_is_usable(environment);
}

std::size_t terminal_width(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::size_t terminal_rows(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_row;
}

bool can_ask() {
  return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
}

bool read_yes() {
  std::array<char, 64> answer{};
  const ssize_t count = read(STDIN_FILENO, answer.data(), answer.size());
  return count > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

}  // namespace steptune
