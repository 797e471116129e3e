// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trial_runner/reports/report_reader.hpp"

extern char** environ;

namespace steptune::test {

namespace {

constexpr std::string_view k_trial_variable = "STEPTUNE_TRIAL=";
constexpr const char* k_inside_tuner = "STEPTUNE_TRIAL=1";

std::vector<std::string> environment(bool inside_tuner) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with(k_trial_variable)) variables.push_back(*variable);
  }
  if (inside_tuner) variables.emplace_back(k_inside_tuner);
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

Program::Program(const std::vector<std::string>& argv, bool inside_tuner) {
  std::array<int, 2> pipe_ends = {-1, -1};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  output_ = pipe_ends[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, error_file_.c_str(), O_WRONLY | O_CREAT,
                                   0600);
  std::vector<std::string> arguments = argv;
  std::vector<std::string> variables = environment(inside_tuner);
  const int error = posix_spawn(&process_, argv.at(0).c_str(), &actions, nullptr,
                                pointers(arguments).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  if (error != 0) throw std::runtime_error("cannot start " + argv.at(0));
}

Program::~Program() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  close(output_);
}

bool Program::read_some() {
  std::array<char, 65'536> buffer;
  const ssize_t count = read(output_, buffer.data(), buffer.size());
  if (count > 0) out_.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

void Program::read_until(const std::string& text) {
  while (out_.find(text) == std::string::npos && read_some()) {
  }
}

void Program::send(int signal) const {
  kill(process_, signal);
}

Ended Program::wait() {
  while (read_some()) {
  }
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  std::ifstream errors(error_file_);
  return {.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          .out = out_,
          .err = {std::istreambuf_iterator<char>(errors), {}}};
}

Ended run(const std::vector<std::string>& argv, bool inside_tuner) {
  return Program(argv, inside_tuner).wait();
}

std::vector<Report> reports_in(const std::string& out) {
  auto reader = ReportReader::create({}).value();
  std::vector<Report> reports;
  for (std::size_t begin = 0; begin < out.size();) {
    const std::size_t end = std::min(out.find('\n', begin), out.size());
    const std::string_view line = std::string_view(out).substr(begin, end - begin);
    begin = end + 1;
    if (auto report = reader.read_line(line, 0.0)) reports.push_back(*std::move(report));
  }
  EXPECT_EQ(reader.rejected_lines(), 0U) << reader.first_rejection().value_or("");
  return reports;
}

}  // namespace steptune::test
