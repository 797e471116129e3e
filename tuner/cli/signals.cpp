// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/signals.hpp"

#include <array>
#include <atomic>
#include <csignal>

#include "common/interrupts.hpp"

namespace steptune {
namespace {

constexpr std::array k_signals{SIGINT, SIGTERM, SIGHUP};

// A handler has nothing else to reach its flag by.
std::atomic<int> first_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);
std::array<struct sigaction, k_signals.size()> former_actions;

void on_signal(int number) {
  int none = 0;
  first_signal.compare_exchange_strong(none, number);
  count_interrupt();
}

}  // namespace

SignalFlags::SignalFlags() {
  forget_interrupts();
  first_signal = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: a wait returns early
  for (std::size_t i = 0; i < k_signals.size(); ++i) {
    sigaction(k_signals[i], &action, &former_actions[i]);
    // `nohup` means it.
    if (k_signals[i] == SIGHUP && former_actions[i].sa_handler == SIG_IGN) {
      sigaction(SIGHUP, &former_actions[i], nullptr);
    }
  }
}

SignalFlags::~SignalFlags() {
  for (std::size_t i = 0; i < k_signals.size(); ++i) {
    sigaction(k_signals[i], &former_actions[i], nullptr);
  }
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

}  // namespace steptune
