// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/program.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <regex>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/text.hpp"
#include "tests/support/read_file.hpp"

namespace steptune::golden {
namespace {

/// Adds spawn actions that redirect a standard descriptor as the setting says.
void direct(posix_spawn_file_actions_t& actions, int fd, Stream stream, const std::string& file,
            std::vector<int>& to_close) {
  switch (stream) {
    case Stream::file:
      posix_spawn_file_actions_addopen(&actions, fd, file.c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
      break;
    case Stream::closed:
      posix_spawn_file_actions_addclose(&actions, fd);
      break;
    case Stream::broken_pipe: {
      std::array<int, 2> ends{};
      if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
      close(ends[0]);
      posix_spawn_file_actions_adddup2(&actions, ends[1], fd);
      to_close.push_back(ends[1]);
      break;
    }
  }
}

/// Converts an expected line to a regular expression. Text outside of `{{ }}` is literal.
std::string pattern_of(const std::string& line) {
  std::string pattern;
  for (std::size_t at = 0; at < line.size();) {
    if (line.compare(at, 2, "{{") == 0) {
      const std::size_t end = line.find("}}", at);
      pattern += "(?:" + line.substr(at + 2, end - at - 2) + ")";
      at = end + 2;
      continue;
    }
    if (std::string("\\^$.|?*+()[]{}").find(line[at]) != std::string::npos) pattern += '\\';
    pattern += line[at++];
  }
  return pattern;
}

std::vector<std::string> lines_of(const std::string& text) {
  const auto lines = split_lines(text);
  return {lines.begin(), lines.end()};
}

}  // namespace

std::string steptune_program() {
  return std::string(STEPTUNE_BINARY_DIR) + "/bin/steptune";
}

bool has_pytorch() {
  static const bool k_has = [] {
    const std::string look = "import importlib.util as u, sys; sys.exit(not u.find_spec('torch'))";
    return Sandbox().program({"/usr/bin/python3", "-c", look}).exit_code == 0;
  }();
  return k_has;
}

void Sandbox::write(const std::string& file, const std::string& text) const {
  folder_.write(file, text);
}

std::string Sandbox::read(const std::string& file) const {
  return read_file(folder() / file);
}

pid_t Sandbox::spawn(const std::vector<std::string>& argv, const Setting& setting) const {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder().c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  std::vector<int> to_close;
  direct(actions, STDOUT_FILENO, setting.out, "out.txt", to_close);
  direct(actions, STDERR_FILENO, setting.err, "err.txt", to_close);
  std::map<std::string, std::string> variables{{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                                               {"TERM", "dumb"}};
  for (const auto& [name, value] : setting.environment)
    variables[name] = value;
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables)
    environment.push_back(name + "=" + value);
  std::vector<char*> arguments;
  for (const std::string& argument : argv)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> envp;
  for (std::string& variable : environment)
    envp.push_back(variable.data());
  envp.push_back(nullptr);
  pid_t pid = -1;
  const int fault =
      posix_spawnp(&pid, argv[0].c_str(), &actions, nullptr, arguments.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  for (const int fd : to_close)
    close(fd);
  if (fault != 0) throw std::runtime_error("cannot start " + argv[0]);
  return pid;
}

Ended Sandbox::wait(pid_t pid) const {
  int status = 0;
  while (waitpid(pid, &status, 0) == -1 && errno == EINTR) {
  }
  Ended ended;
  ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ended.out = read("out.txt");
  ended.err = read("err.txt");
  return ended;
}

Ended Sandbox::program(const std::vector<std::string>& argv, const Setting& setting) const {
  std::error_code ignored;
  std::filesystem::remove(folder() / "out.txt", ignored);
  std::filesystem::remove(folder() / "err.txt", ignored);
  return wait(spawn(argv, setting));
}

pid_t Sandbox::start(const std::vector<std::string>& arguments, const Setting& setting) const {
  std::error_code ignored;
  std::filesystem::remove(folder() / "err.txt", ignored);
  std::vector<std::string> argv{steptune_program()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return spawn(argv, setting);
}

Ended Sandbox::steptune(const std::vector<std::string>& arguments, const Setting& setting) const {
  std::vector<std::string> argv{steptune_program()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return program(argv, setting);
}

Ended Sandbox::on_terminal(const std::string& shell_command, const Setting& setting) const {
  Setting terminal = setting;
  terminal.environment.emplace("SHELL", "/bin/sh");
  terminal.environment.try_emplace("TERM", "xterm");
  terminal.environment.emplace("STEPTUNE", steptune_program());
  return program({"script", "-qfec", "stty cols 100 rows 40; " + shell_command, "/dev/null"},
                 terminal);
}

bool Sandbox::until_err_contains(const std::string& text) const {
  for (int i = 0; i < 600; ++i) {
    if (read("err.txt").find(text) != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

std::string difference(const std::string& expected, const std::string& actual) {
  // One expression per line keeps messages short and matching linear.
  const auto wanted = lines_of(expected);
  const auto found = lines_of(actual);
  std::size_t at = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == "{{...}}") {
      if (i + 1 == wanted.size()) return {};
      const std::regex next(pattern_of(wanted[i + 1]));
      while (at < found.size() && !std::regex_match(found[at], next))
        ++at;
      continue;
    }
    if (at >= found.size()) return "missing line: " + wanted[i] + "\nin:\n" + actual;
    if (!std::regex_match(found[at], std::regex(pattern_of(wanted[i])))) {
      return "expected: " + wanted[i] + "\nfound:    " + found[at] + "\nin:\n" + actual;
    }
    ++at;
  }
  if (at < found.size()) return "unexpected line: " + found[at] + "\nin:\n" + actual;
  return {};
}

}  // namespace steptune::golden
