// SPDX-License-Identifier: Apache-2.0
#include "tuner/notify/hook_command.hpp"

#include <cerrno>
#include <csignal>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>

#include "common/child_process.hpp"
#include "common/memory_file.hpp"
#include "common/pause.hpp"
#include "common/system_reason.hpp"
#include "common/unique_fd.hpp"
#include "tuner/notify/secret_names.hpp"

namespace steptune {
namespace {

constexpr double k_longest_s = 30.0;

Result<pid_t> start(const std::string& command, const std::string& event, int input) {
  ChildRequest request;
  request.argv = {"sh", "-c", command};
  request.program = "/bin/sh";
  request.environment = environment_without_secrets();
  std::erase_if(request.environment,
                [](const auto& each) { return each.starts_with("STEPTUNE_EVENT="); });
  request.environment.push_back("STEPTUNE_EVENT=" + event);
  request.in = input;
  const auto pid = start_child(request);
  if (!pid) return fail(ErrorKind::runner, "cannot start: " + system_reason(pid.error()));
  return *pid;
}

}  // namespace

Result<void> run_hook_command(const std::string& command, const std::string& event,
                              const std::string& document, const Clock& clock) {
  const UniqueFd input = memory_file(document);
  if (!input) return fail(ErrorKind::runner, "cannot write the event: " + system_reason(errno));
  const auto pid = start(command, event, input.get());
  if (!pid) return tl::unexpected(pid.error());
  const double deadline_s = clock.now_s() + k_longest_s;
  int status = 0;
  bool in_time = true;
  for (;;) {
    const pid_t ended = waitpid(*pid, &status, in_time ? WNOHANG : 0);
    if (ended == *pid || (ended < 0 && errno != EINTR)) break;
    if (ended != 0) continue;
    pause_thread(k_child_poll_s);
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
