// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/watchdog.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/child_process.hpp"
#include "common/shipped_files.hpp"
#include "common/system_reason.hpp"
#include "trial_runner/local/clean_up_time.hpp"
#include "trial_runner/local/spawn.hpp"

namespace steptune::local {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_watchdog_name = "steptune-watchdog";

}  // namespace

Result<fs::path> find_watchdog_program() {
  return find_helper(k_watchdog_name, "which ends the trials if this program is killed");
}

Result<Watchdog> Watchdog::start(const fs::path& program, const std::string& run_tag) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(ErrorKind::runner,
                "cannot create a socket for the watchdog: " + system_reason(errno));
  }
  UniqueFd theirs(ends[1]);
  Watchdog watchdog;
  watchdog.line_ = UniqueFd(ends[0]);
  SpawnRequest request;
  request.argv = {program.string(), run_tag};
  // Use a new session, so that signals to this program's group or terminal do not reach the
  // watchdog.
  request.own_session = true;
  request.environment = process_variables();
  request.working_directory = "/";
  request.stdin_fd = theirs.get();
  const auto pid = spawn(request);
  if (!pid) return tl::unexpected(pid.error());
  watchdog.pid_ = *pid;
  theirs.reset();
  if (!watchdog.is_ready()) {
    return fail(ErrorKind::runner, "the watchdog program did not start", program.string(),
                "run it by hand to see why");
  }
  return watchdog;
}

bool Watchdog::is_ready() const {
  pollfd descriptor{line_.get(), POLLIN, 0};
  while (::poll(&descriptor, 1, static_cast<int>(1e3 * k_give_up_s)) < 0) {
    if (errno != EINTR) return false;
  }
  char ready = 0;
  return ::recv(line_.get(), &ready, 1, MSG_DONTWAIT) == 1;
}

Watchdog::Watchdog(Watchdog&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), line_(std::move(other.line_)) {}

Watchdog& Watchdog::operator=(Watchdog&& other) noexcept {
  if (this != &other) {
    quit();
    pid_ = std::exchange(other.pid_, 0);
    line_ = std::move(other.line_);
  }
  return *this;
}

Watchdog::~Watchdog() {
  quit();
}

bool Watchdog::alive() const {
  siginfo_t info{};
  return pid_ > 0 &&
         ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

void Watchdog::watch(const ProcessId& process) {
  send(fmt::format("+{} {}\n", process.pid, process.start_ticks));
}

void Watchdog::forget(const ProcessId& process) {
  send(fmt::format("-{} {}\n", process.pid, process.start_ticks));
}

void Watchdog::send(const std::string& line) {
  // If the watchdog is dead, the runner replaces it before the next trial starts.
  [[maybe_unused]] const ssize_t sent =
      ::send(line_.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Watchdog::quit() {
  if (pid_ <= 0) return;
  send("q\n");
  line_.reset();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

}  // namespace steptune::local
