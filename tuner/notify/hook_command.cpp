// SPDX-License-Identifier: Apache-2.0
#include "tuner/notify/hook_command.hpp"

#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/unique_fd.hpp"
#include "tuner/notify/secret_names.hpp"

namespace steptune {
namespace {

constexpr double k_longest_s = 30.0;
constexpr int k_look_ms = 20;

std::string reason(int error) {
  return std::generic_category().message(error);
}

/// A file in memory at its beginning: unlike a pipe it holds all, whether or not anybody reads.
Result<UniqueFd> file_with(std::string_view text) {
  UniqueFd file(memfd_create("steptune-event", MFD_CLOEXEC));
  if (file.get() < 0) return fail(ErrorKind::runner, "memfd_create: " + reason(errno));
  while (!text.empty()) {
    const ssize_t count = write(file.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return fail(ErrorKind::runner, "cannot write the event: " + reason(errno));
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (lseek(file.get(), 0, SEEK_SET) != 0) return fail(ErrorKind::runner, "lseek failed");
  return file;
}

std::vector<char*> pointers_into(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

Result<pid_t> start(const std::string& command, const std::string& event, int input) {
  std::vector<std::string> words{"sh", "-c", command};
  std::vector<std::string> variables = environment_without_secrets();
  std::erase_if(variables, [](const auto& each) { return each.starts_with("STEPTUNE_EVENT="); });
  variables.push_back("STEPTUNE_EVENT=" + event);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP})
    sigaddset(&signals, number);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, "/bin/sh", &actions, &attributes, pointers_into(words).data(),
                                pointers_into(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail(ErrorKind::runner, "cannot start: " + reason(error));
  return pid;
}

}  // namespace

Result<void> run_hook_command(const std::string& command, const std::string& event,
                              const std::string& document, const Clock& clock) {
  const auto input = file_with(document);
  if (!input) return tl::unexpected(input.error());
  const auto pid = start(command, event, input->get());
  if (!pid) return tl::unexpected(pid.error());
  const double deadline_s = clock.now_s() + k_longest_s;
  int status = 0;
  bool in_time = true;
  for (;;) {
    const pid_t ended = waitpid(*pid, &status, in_time ? WNOHANG : 0);
    if (ended == *pid || (ended < 0 && errno != EINTR)) break;
    if (ended != 0) continue;
    poll(nullptr, 0, k_look_ms);
    if (clock.now_s() < deadline_s) continue;
    kill(-*pid, SIGKILL);
    in_time = false;
  }
  if (!in_time) {
    return fail(ErrorKind::runner, fmt::format("did not end within {:.0f} s", k_longest_s));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(ErrorKind::runner, WIFEXITED(status)
                                     ? fmt::format("ended with exit status {}", WEXITSTATUS(status))
                                     : fmt::format("was killed by signal {}", WTERMSIG(status)));
}

}  // namespace steptune
