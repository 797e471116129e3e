// SPDX-License-Identifier: Apache-2.0
//
// steptune-watchdog RUN_TAG: waits on standard input until the tuner that started it is dead. Then
// kills the remaining processes of that tuner's trials, and removes temporary files that they leave
// behind. It reads these lines: `+PID START` (end this process and its group, too), `-PID START`
// (do not end it any more), `q` (quit: no process is left).
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "common/child_process.hpp"
#include "common/clock.hpp"
#include "common/machine/processes.hpp"
#include "common/pause.hpp"
#include "trial_runner/local/clean_up_time.hpp"
#include "trial_runner/local/held_files.hpp"
#include "trial_runner/local/leftovers.hpp"
#include "trial_runner/local/process_tags.hpp"

namespace {

using steptune::ProcessId;
using steptune::local::Leftovers;

std::optional<ProcessId> parse_process(std::string_view text) {
  ProcessId process;
  const char* const end = text.data() + text.size();
  const auto [blank, error] = std::from_chars(text.data(), end, process.pid);
  if (error != std::errc{} || blank == end) return std::nullopt;
  if (std::from_chars(blank + 1, end, process.start_ticks).ec != std::errc{}) return std::nullopt;
  return process;
}

/// Reads lines until the tuner quits or dies. Returns true if it quits. Sets `watched` to the
/// processes to end.
bool listen(std::vector<ProcessId>& watched) {
  std::string pending;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    pending.append(buffer.data(), static_cast<std::size_t>(got));
    for (std::size_t end; (end = pending.find('\n')) != std::string::npos;) {
      const std::string line = pending.substr(0, end);
      pending.erase(0, end + 1);
      if (line == "q") return true;
      const auto process =
          parse_process(std::string_view(line).substr(std::min<std::size_t>(1, line.size())));
      if (!process) continue;
      std::erase(watched, *process);
      if (line.front() == '+') watched.push_back(*process);
    }
  }
}

/// Returns the earliest start of `processes`, in seconds since 1970. `processes` must not be empty.
double earliest_start_s(const std::vector<ProcessId>& processes) {
  const auto ticks_per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
  timespec since_boot{};
  ::clock_gettime(CLOCK_BOOTTIME, &since_boot);
  const ProcessId& first = std::ranges::min(processes, {}, &ProcessId::start_ticks);
  const double age_s = static_cast<double>(since_boot.tv_sec) +
                       1e-9 * static_cast<double>(since_boot.tv_nsec) -
                       static_cast<double>(first.start_ticks) / ticks_per_s;
  return steptune::SystemClock{}.wall_time_s() - age_s;
}

/// Records the files that the trials' processes have open. They are removed when the processes are
/// gone.
std::optional<Leftovers> leftovers_of(const std::vector<ProcessId>& victims) {
  if (victims.empty()) return std::nullopt;
  std::vector<steptune::ProcessStat> processes;
  for (const ProcessId& victim : victims) {
    if (const auto stat = steptune::read_stat(victim.pid)) processes.push_back(*stat);
  }
  const auto environment = steptune::environment_of(victims.front().pid);
  auto leftovers = Leftovers::of_earlier(earliest_start_s(victims),
                                         steptune::local::temporary_folder(environment));
  leftovers.observe_files(processes);
  return leftovers;
}

void kill_all(const std::string& tag, const std::vector<ProcessId>& watched) {
  std::optional<Leftovers> leftovers;
  // Wait twice as long as the runner would, because nobody ends the processes after the watchdog.
  const double longest_s = 2.0 * steptune::local::k_give_up_s;
  // Search once more after finding none: a process may be in the middle of an exec.
  int clean = 0;
  for (int round = 0; steptune::k_child_poll_s * round < longest_s && clean < 2; ++round) {
    const auto victims = steptune::local::find_tagged_processes({&tag, 1}, watched);
    if (!leftovers) leftovers = leftovers_of(victims);
    for (const ProcessId& victim : victims) {
      const bool may_clean_up = steptune::k_child_poll_s * round < steptune::local::k_clean_up_s;
      if (!may_clean_up || !steptune::local::cleans_up(steptune::SystemFiles{}, victim.pid))
        steptune::send_signal(victim, SIGKILL);
    }
    clean = victims.empty() ? clean + 1 : 0;
    steptune::pause_thread(steptune::k_child_poll_s);
  }
  if (leftovers) leftovers->clear();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    constexpr std::string_view k_usage =
        "steptune-watchdog is started by steptune; it is of no use by itself\n";
    return ::write(STDERR_FILENO, k_usage.data(), k_usage.size()) < 0 ? 3 : 2;
  }
  // Ignore signals that a terminal sends to the tuner and the watchdog: the watchdog must outlive
  // the tuner.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    std::signal(signal, SIG_IGN);
  // Standard input is a socket: the tuner waits for this byte before it starts a trial.
  if (::write(STDIN_FILENO, "r", 1) != 1) return 1;
  std::vector<ProcessId> watched;
  if (!listen(watched)) kill_all(steptune::local::run_tag_entry(argv[1]), watched);
  return 0;
}
