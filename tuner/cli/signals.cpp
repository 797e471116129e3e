// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/signals.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>

#include <sys/prctl.h>
#include <unistd.h>

#include "common/ending_signals.hpp"
#include "common/interrupts.hpp"

namespace steptune {
namespace {

constexpr std::array k_relayed_signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// Global, because a signal handler cannot reach other objects.
std::atomic<int> first_signal{0};
std::atomic<pid_t> relay_target{0};
std::atomic<unsigned> waiting_signals{0};  ///< one bit for each of `k_relayed_signals`
static_assert(std::atomic<int>::is_always_lock_free);
static_assert(std::atomic<unsigned>::is_always_lock_free);
std::array<struct sigaction, k_ending_signals.size()> former_actions;
std::array<struct sigaction, k_relayed_signals.size()> former_relayed_actions;

void on_signal(int number) {
  int none = 0;
  first_signal.compare_exchange_strong(none, number);
  count_interrupt();
}

void on_relayed_signal(int number, siginfo_t* info, void* /*context*/) {
  const int fault = errno;
  const pid_t target = relay_target.load();
  const bool is_of_terminal = info->si_code == SI_KERNEL;
  if (target == 0) {
    for (std::size_t i = 0; i < k_relayed_signals.size(); ++i) {
      if (k_relayed_signals[i] == number) waiting_signals.fetch_or(1U << i);
    }
  } else if (target < 0 || !is_of_terminal) {
    ::kill(target, number);
  }
  errno = fault;
}

/// Installs `action` for all `signals`. The caller has set the handler in `action`.
template <std::size_t N>
void handle_signals(const std::array<int, N>& signals, struct sigaction action,
                    std::array<struct sigaction, N>& former) {
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < N; ++i) {
    sigaction(signals[i], &action, &former[i]);
    // If SIGHUP was ignored, keep ignoring it: the user started the program with `nohup`.
    if (signals[i] == SIGHUP && former[i].sa_handler == SIG_IGN) {
      sigaction(SIGHUP, &former[i], nullptr);
    }
  }
}

template <std::size_t N>
void restore_signals(const std::array<int, N>& signals,
                     const std::array<struct sigaction, N>& former) {
  for (std::size_t i = 0; i < N; ++i)
    sigaction(signals[i], &former[i], nullptr);
}

}  // namespace

SignalFlags::SignalFlags() {
  forget_interrupts();
  first_signal = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = 0;  // no SA_RESTART: a wait returns early
  handle_signals(k_ending_signals, action, former_actions);
}

SignalFlags::~SignalFlags() {
  restore_signals(k_ending_signals, former_actions);
}

int SignalFlags::count() const {
  return interrupts();
}

ExitCode SignalFlags::exit_code() const {
  switch (first_signal.load()) {
    case 0:
      return ExitCode::ok;
    case SIGINT:
      return ExitCode::interrupted;
    default:
      return ExitCode::terminated;
  }
}

SignalRelay::SignalRelay() {
  relay_target = 0;
  waiting_signals = 0;
  struct sigaction action {};
  action.sa_sigaction = on_relayed_signal;
  action.sa_flags = SA_SIGINFO;
  handle_signals(k_relayed_signals, action, former_relayed_actions);
}

SignalRelay::~SignalRelay() {
  restore_signals(k_relayed_signals, former_relayed_actions);
  relay_target = 0;
}

void SignalRelay::pass_to(pid_t target) {
  relay_target = target;
  if (target == 0) return;
  const unsigned waiting = waiting_signals.exchange(0);
  for (std::size_t i = 0; i < k_relayed_signals.size(); ++i) {
    if ((waiting & (1U << i)) != 0) ::kill(target, k_relayed_signals[i]);
  }
}

bool end_with_parent(const std::string& parent) {
  // Ignore a failure of prctl: this process then ends when its work is done.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  return std::to_string(::getppid()) == parent;
}

}  // namespace steptune
