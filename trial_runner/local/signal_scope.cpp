// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/signal_scope.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>

#include "common/ending_signals.hpp"
#include "common/units.hpp"

namespace steptune::local {

SignalScope::SignalScope() {
  ::sigemptyset(&ending_);
  for (const int signal : k_ending_signals)
    ::sigaddset(&ending_, signal);
  ::pthread_sigmask(SIG_BLOCK, &ending_, &before_);
  open_ = before_;
  for (const int signal : k_ending_signals)
    ::sigdelset(&open_, signal);
}

SignalScope::~SignalScope() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool SignalScope::poll(std::span<pollfd> descriptors, double timeout_s) const {
  const double bounded_s = std::clamp(timeout_s, 0.0, k_hour_s);
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(bounded_s);
  timeout.tv_nsec = static_cast<long>((bounded_s - std::floor(bounded_s)) / 1e-9);
  const int ready = ::ppoll(descriptors.data(), descriptors.size(), &timeout, &open_);
  if (ready < 0) return errno == EINTR;

  // If a descriptor is ready, ppoll returns without delivering pending signals. So a trial with
  // much output could delay a signal for ever. Deliver a pending signal here.
  sigset_t pending;
  ::sigpending(&pending);
  const bool waits = std::ranges::any_of(
      k_ending_signals, [&](int signal) { return ::sigismember(&pending, signal) == 1; });
  if (!waits) return false;
  const timespec none{};
  ::ppoll(nullptr, 0, &none, &open_);
  return true;
}

}  // namespace steptune::local
