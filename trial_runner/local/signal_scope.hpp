// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <span>

#include <poll.h>

namespace steptune::local {

/// Blocks the ending signals (SIGINT, SIGTERM, SIGHUP) in the calling thread during its lifetime,
/// except inside `poll`. So a handler only needs to set a flag: no signal can arrive between the
/// check of the flag and the sleep.
class SignalScope {
 public:
  SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;
  ~SignalScope();

  /// Waits for the descriptors. Returns true if a signal was handled.
  bool poll(std::span<pollfd> descriptors, double timeout_s) const;

 private:
  sigset_t ending_{};  // the blocked signals
  sigset_t before_{};
  sigset_t open_{};  // signal mask inside `poll`
};

}  // namespace steptune::local
