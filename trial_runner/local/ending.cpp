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

Outcome classify_own_ending(const Ending& ending) {
  const int status = ending.wait_status;
  const bool signalled = WIFSIGNALED(status);
  const int exit_code = shell_status(status);
  if (exit_code == 0) return {};

  const bool killed = signalled && WTERMSIG(status) == SIGKILL;
  // Shells and container tools report a child's SIGKILL by this exit code. The kernel may have
  // counted that kill in another control group.
  const bool is_status_of_kill = !signalled && exit_code == k_sigkill_status;
  std::string sign;
  // Kills in other control groups are common on shared machines and often concern other programs.
  // They count only if this trial was killed: it may have moved to another control group.
  if (ending.oom_kills == OomKillPlace::here ||
      (killed && ending.oom_kills == OomKillPlace::elsewhere)) {
    sign = "the kernel killed it because memory ran out";
  } else if (is_status_of_kill) {
    sign = "one of its processes was killed, most likely because memory ran out";
  } else if (!killed && ending.says_memory_out) {
    sign = "its output reports that memory ran out";
  }
  if (!sign.empty()) {
    return {.kind = OutcomeKind::out_of_memory,
            .exit_code = exit_code,
            .detail = fmt::format("{} ({})", sign, status_text(status))};
  }
  if (!killed && ending.says_ranks_waited) {
    return {.kind = OutcomeKind::hung,
            .exit_code = exit_code,
            .detail = fmt::format("{} ({})", k_ranks_waited_text, status_text(status))};
  }
  return {.kind = OutcomeKind::failed,
          .exit_code = exit_code,
          .detail = status_text(status) + (killed ? " from outside" : "")};
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

Outcome classify(const Ending& ending, const TrialLimits& limits) {
  Outcome outcome = classify_own_ending(ending);
  if (ending.ended_as) {
    outcome.kind = *ending.ended_as;
    outcome.detail = exceeded_limit(*ending.ended_as, limits);
  }
  return outcome;
}

}  // namespace steptune::local
