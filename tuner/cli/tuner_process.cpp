// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/tuner_process.hpp"

#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/system_reason.hpp"
#include "common/text.hpp"
#include "trial_runner/hooks/python_hook.hpp"
#include "trial_runner/hooks/python_path.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

/// Closes stdin and stdout, so that their readers see the end when the program ends, not when the
/// tuner ends.
void let_go_of_streams() {
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing) return;
  ::dup2(nothing.get(), STDIN_FILENO);
  ::dup2(nothing.get(), STDOUT_FILENO);
}

/// Closes inherited descriptors, because their locks and pipes belong to the program.
void let_go_of_inherited() {
  std::vector<int> inherited;
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", fault)) {
    const auto number = parse_finite(entry.path().filename().string());
    if (!number) continue;
    const int descriptor = static_cast<int>(*number);
    const int flags = ::fcntl(descriptor, F_GETFD);
    // Descriptors opened by this program have FD_CLOEXEC.
    if (descriptor > STDERR_FILENO && flags >= 0 && (flags & FD_CLOEXEC) == 0) {
      inherited.push_back(descriptor);
    }
  }
  for (const int descriptor : inherited)
    ::close(descriptor);
}

[[noreturn]] void be_tuner(CommandContext& context, const AttachedTuning& tuning,
                           live::LiveChannel channel, UniqueFd process) {
  let_go_of_streams();
  let_go_of_inherited();
  // Lower the tuner's priority, so that its computations do not slow down the program. If that
  // fails, continue at the old priority.
  [[maybe_unused]] const int niceness = ::nice(5);
  {
    live::AttachedProgram program(context.clock, std::move(channel), std::move(process));
    tune_attached(context, tuning, program);
  }
  ::_exit(0);
}

Error no_tuner(const char* what) {
  return {ErrorKind::runner, fmt::format("cannot {}: {}", what, system_reason(errno)), "", ""};
}

}  // namespace

Result<std::map<std::string, std::string>> leave_tuner_behind(CommandContext& context,
                                                              const AttachedTuning& tuning) {
  auto channel = live::LiveChannel::open();
  if (!channel) return tl::unexpected(channel.error());
  PythonHookRequest request;
  request.mode = HookMode::live;
  request.channel = channel->path();
  request.silence_s = live::k_longest_silence_s;
  request.samples_per_step = tuning.samples_per_step;
  std::map<std::string, std::string> variables;
  const std::string python_path = context.console.environment()(k_python_path).value_or("");
  if (auto added = add_hook(request, python_path, variables); !added) {
    return tl::unexpected(added.error());
  }
  // A direct call, because glibc before 2.36 has no pidfd_open.
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!process) return tl::unexpected(no_tuner("watch the program"));
  const pid_t between = ::fork();
  if (between < 0) return tl::unexpected(no_tuner("start the tuner"));
  if (between == 0) {
    ::setsid();
    const pid_t tuner = ::fork();
    if (tuner == 0) be_tuner(context, tuning, *std::move(channel), std::move(process));
    ::_exit(tuner < 0 ? 1 : 0);
  }
  int status = 0;
  while (::waitpid(between, &status, 0) == -1 && errno == EINTR) {
  }
  if (status != 0) {
    return fail(ErrorKind::runner, "cannot start the tuner");
  }
  channel->abandon();
  return variables;
}

}  // namespace steptune
