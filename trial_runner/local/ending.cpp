// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/ending.hpp"

#include <csignal>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <sys/wait.h>

#include "common/exit_status.hpp"
#include "common/text.hpp"
#include "common/units.hpp"
#include "trial_runner/output/waiting_ranks.hpp"

namespace steptune::local {
namespace {

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

std::string status_text(int status) {
  return WIFSIGNALED(status) ? "killed by " + signal_name(WTERMSIG(status))
                             : fmt::format("exit status {}", WEXITSTATUS(status));
}

/// Returns the limit for which the runner ended a trial with this outcome; empty without a limit.
std::string exceeded_limit(OutcomeKind kind, const TrialLimits& limits) {
  if (kind == OutcomeKind::timed_out) {
    return fmt::format("ran longer than the wall limit of {}", format_duration(limits.wall_s));
  }
  if (kind == OutcomeKind::hung) {
    return fmt::format("printed nothing for the idle limit of {}", format_duration(limits.idle_s));
  }
  if (kind == OutcomeKind::out_of_memory) {
    return fmt::format("used more than the memory limit of {:.0f} MiB",
                       limits.memory_bytes.value_or(0.0) / k_mib_bytes);
  }
  return "";
}

}  // namespace

Outcome own_ending(int wait_status, OomKillPlace oom_kills, bool says_memory_out,
                   bool says_ranks_waited) {
  const bool signalled = WIFSIGNALED(wait_status);
  const int exit_code = shell_status(wait_status);
  if (exit_code == 0) return {};

  const bool killed = signalled && WTERMSIG(wait_status) == SIGKILL;
  // Shells and container tools report a child's SIGKILL by this exit code. The kernel may have
  // counted that kill in another control group.
  const bool is_status_of_kill = !signalled && exit_code == k_sigkill_status;
  std::string sign;
  // Kills in other control groups are common on shared machines and often concern other programs.
  // They count only if this trial was killed: it may have moved to another control group.
  if (oom_kills == OomKillPlace::here || (killed && oom_kills == OomKillPlace::elsewhere)) {
    sign = "the kernel killed it because memory ran out";
  } else if (is_status_of_kill) {
    sign = "one of its processes was killed, most likely because memory ran out";
  } else if (!killed && says_memory_out) {
    sign = "its output reports that memory ran out";
  }
  if (!sign.empty()) {
    return {.kind = OutcomeKind::out_of_memory,
            .exit_code = exit_code,
            .detail = fmt::format("{} ({})", sign, status_text(wait_status))};
  }
  if (!killed && says_ranks_waited) {
    return {.kind = OutcomeKind::hung,
            .exit_code = exit_code,
            .detail = fmt::format("{} ({})", k_ranks_waited_text, status_text(wait_status))};
  }
  return {.kind = OutcomeKind::failed,
          .exit_code = exit_code,
          .detail = status_text(wait_status) + (killed ? " from outside" : "")};
}

Outcome forced_ending(OutcomeKind kind, int wait_status, const TrialLimits& limits) {
  return {
      .kind = kind, .exit_code = shell_status(wait_status), .detail = exceeded_limit(kind, limits)};
}

}  // namespace steptune::local
