// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <span>

#include <poll.h>

namespace steptune::local {

/// Blocks the signals that ask a program to end, in the calling thread, while it lives; they get
/// through inside `poll` only. So a handler that sets a flag is all that is needed: no signal can
/// slip in between looking at the flag and going to sleep.
class SignalScope {
 public:
  SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;
  ~SignalScope();

  /// Waits for the descriptors; true if a signal was handled.
  bool poll(std::span<pollfd> descriptors, double timeout_s) const;

 private:
  sigset_t ending_{};  // the signals in question
  sigset_t before_{};
  sigset_t open_{};  // the mask inside poll
};

}  // namespace steptune::local
