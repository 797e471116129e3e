// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/console.hpp"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "common/system_reason.hpp"
#include "common/text.hpp"

namespace steptune {
namespace {

struct sigaction
    former_pipe_action;  // global, because a signal's disposition belongs to the whole process

}  // namespace

void secure_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    // open() returns the lowest free number, which is `fd` itself. Open stdout read-only, so that
    // writing results fails with an error.
    const int opened = open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    if (opened != fd && opened != -1) close(opened);
  }
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &former_pipe_action);
}

void restore_pipe_signal() {
  sigaction(SIGPIPE, &former_pipe_action, nullptr);
}

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return errno;
    // Another process has made this pipe non-blocking: wait for room.
    pollfd ready{fd, POLLOUT, 0};
    if (poll(&ready, 1, -1) == -1 && errno != EINTR) return errno;
  }
  return 0;
}

Console::Console(Environment environment) : environment_(std::move(environment)) {}

void Console::result(std::string_view text) {
  if (reader_gone_ || write_failed_) return;
  const int fault = write_all(STDOUT_FILENO, text);
  if (fault == EPIPE) {
    reader_gone_ = true;
  } else if (fault != 0) {
    write_failed_ = true;
    message(fmt::format("steptune: error: cannot write to stdout: {}", system_reason(fault)));
  }
}

bool Console::has_reader() const {
  pollfd out{STDOUT_FILENO, 0, 0};
  const bool is_hung_up = ::poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
  return !reader_gone_ && !is_hung_up;
}

void Console::json_result(const Json& json) {
  result(dump_json(json, 2) + "\n");
}

void Console::message(std::string_view text) {
  std::string line(text);
  if (line.empty() || line.back() != '\n') line += '\n';
  static_cast<void>(write_all(STDERR_FILENO, line));
}

ExitCode Console::error(const Error& error) {
  const bool color = color_on_stderr();
  // Remove control characters: paths and messages of other programs may contain some.
  Error shown = error;
  shown.where = printable_line(error.where, k_any_length);
  message(fmt::format("steptune: {}error:{} {}", color ? "\x1b[1;31m" : "", color ? "\x1b[0m" : "",
                      printable_lines(shown.text())));
  return exit_code_of(error.kind);
}

void Console::warning(std::string_view text) {
  const bool color = color_on_stderr();
  message(fmt::format("steptune: {}warning:{} {}", color ? "\x1b[1;33m" : "",
                      color ? "\x1b[0m" : "", printable_lines(text)));
}

ExitCode Console::finish(ExitCode code) const {
  return code == ExitCode::ok && write_failed_ ? ExitCode::failure : code;
}

bool Console::color_on_stdout() const {
  return decide_color(color_choice_, isatty(STDOUT_FILENO) == 1, environment_);
}

bool Console::color_on_stderr() const {
  return decide_color(color_choice_, isatty(STDERR_FILENO) == 1, environment_);
}

std::size_t Console::stdout_width() const {
  return isatty(STDOUT_FILENO) == 1 ? terminal_width(STDOUT_FILENO) : 0;
}

std::size_t Console::stderr_width() const {
  return isatty(STDERR_FILENO) == 1 ? terminal_width(STDERR_FILENO) : 0;
}

}  // namespace steptune
