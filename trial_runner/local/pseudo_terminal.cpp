// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/pseudo_terminal.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "common/system_reason.hpp"

namespace steptune::local {
namespace {

/// Returns the size of this program's own terminal.
winsize users_size() {
  winsize size{};
  for (const int fd : {STDERR_FILENO, STDOUT_FILENO}) {
    if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) return size;
  }
  size = {};
  size.ws_col = 80;
  size.ws_row = 24;
  return size;
}

tl::unexpected<Error> no_terminal() {
  return fail(ErrorKind::unavailable, "cannot open a pseudo-terminal: " + system_reason(errno), {},
              "see kernel.pty.max (sysctl) and ulimit -n, or set \"terminal\" to false");
}

}  // namespace

Result<PseudoTerminal> open_pseudo_terminal() {
  PseudoTerminal terminal;
  // O_NOCTTY: this terminal must not become the tuner's controlling terminal, even if the tuner has
  // none.
  terminal.tuner_end = UniqueFd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  const int tuner_end = terminal.tuner_end.get();
  std::array<char, 64> name{};
  if (!terminal.tuner_end || ::grantpt(tuner_end) != 0 || ::unlockpt(tuner_end) != 0 ||
      ::ptsname_r(tuner_end, name.data(), name.size()) != 0) {
    return no_terminal();
  }
  terminal.trial_end = UniqueFd(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  const int trial_end = terminal.trial_end.get();
  termios modes{};
  if (!terminal.trial_end || ::tcgetattr(trial_end, &modes) != 0) return no_terminal();
  ::cfmakeraw(&modes);
  // Without input, a read returns 0 at once (end of file).
  modes.c_cc[VMIN] = 0;
  modes.c_cc[VTIME] = 0;
  const winsize size = users_size();
  if (::tcsetattr(trial_end, TCSANOW, &modes) != 0 || ::ioctl(trial_end, TIOCSWINSZ, &size) != 0 ||
      ::fcntl(tuner_end, F_SETFL, O_RDWR | O_NONBLOCK) != 0) {
    return no_terminal();
  }
  return terminal;
}

}  // namespace steptune::local
