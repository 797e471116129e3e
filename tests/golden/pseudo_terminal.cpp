// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/pseudo_terminal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace steptune::golden {
namespace {

winsize size_of(int columns) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = 40;
  return size;
}

}  // namespace

PseudoTerminal::PseudoTerminal(const std::vector<std::string>& argv,
                               const std::filesystem::path& folder, int columns,
                               const std::map<std::string, std::string>& environment) {
  // Prepare everything before the fork; the child only changes its folder and runs the program.
  std::map<std::string, std::string> variables{{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                                               {"TERM", "xterm"}};
  for (const auto& [name, value] : environment)
    variables[name] = value;
  std::vector<std::string> texts;
  for (const auto& [name, value] : variables)
    texts.push_back(name + "=" + value);
  std::vector<char*> envp;
  for (std::string& text : texts)
    envp.push_back(text.data());
  envp.push_back(nullptr);
  std::vector<char*> arguments;
  for (const std::string& argument : argv)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const winsize size = size_of(columns);
  pid_ = forkpty(&fd_, nullptr, nullptr, &size);
  if (pid_ == -1) throw std::runtime_error("forkpty");
  if (pid_ == 0) {
    if (chdir(folder.c_str()) == 0) execve(arguments[0], arguments.data(), envp.data());
    _exit(127);
  }
}

PseudoTerminal::~PseudoTerminal() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(fd_);
}

void PseudoTerminal::resize(int columns) const {
  const winsize size = size_of(columns);
  if (ioctl(fd_, TIOCSWINSZ, &size) != 0) throw std::runtime_error("TIOCSWINSZ");
}

void PseudoTerminal::type(const std::string& keys) const {
  if (write(fd_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) {
    throw std::runtime_error("cannot type");
  }
}

bool PseudoTerminal::read_some() {
  pollfd waiting{fd_, POLLIN, 0};
  if (poll(&waiting, 1, 1000) == 0) return true;
  std::array<char, 4096> buffer{};
  const ssize_t count = read(fd_, buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;  // EIO: no process has the terminal open any more
  written_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

bool PseudoTerminal::until(const std::string& text, std::size_t from) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (written_.find(text, from) == std::string::npos) {
    if (std::chrono::steady_clock::now() > deadline || !read_some()) break;
  }
  return written_.find(text, from) != std::string::npos;
}

int PseudoTerminal::wait() {
  while (read_some()) {
  }
  int status = 0;
  while (waitpid(pid_, &status, 0) == -1 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string screen_after(const std::string& written) {
  std::vector<std::string> lines{""};
  std::size_t row = 0;
  std::size_t column = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const char byte = written[i];
    if (byte == '\r') {
      column = 0;
    } else if (byte == '\n') {
      if (++row == lines.size()) lines.emplace_back();
    } else if (byte == '\x1b' && i + 1 < written.size() && written[i + 1] == '[') {
      const std::size_t end = written.find_first_of("ABCDHJKm", i + 2);
      if (end == std::string::npos) break;
      if (written[end] == 'A') row -= std::min<std::size_t>(row, 1);
      if (written[end] == 'K') lines[row].clear();
      i = end;
    } else {
      if (lines[row].size() <= column) lines[row].resize(column + 1, ' ');
      lines[row][column++] = byte;
    }
  }
  std::string screen;
  for (const std::string& line : lines)
    screen += line + "\n";
  return screen;
}

}  // namespace steptune::golden
