// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "tuner/cli/exit_code.hpp"

namespace steptune {

/// While it lives, SIGINT, SIGTERM and SIGHUP only raise a flag, and system calls that wait return
/// early. Restores the former handlers. One at a time.
class SignalFlags {
 public:
  SignalFlags();
  SignalFlags(const SignalFlags&) = delete;
  SignalFlags& operator=(const SignalFlags&) = delete;
  ~SignalFlags();

  /// How many of these signals have arrived.
  [[nodiscard]] int count() const;
  /// `interrupted` or `terminated` after the first signal, `ok` before.
  [[nodiscard]] ExitCode exit_code() const;
};

/// While it lives, the signals that ask a program to end or to save its state (SIGINT, SIGTERM,
/// SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2) do nothing here but go on to a child, each as it is, whatever
/// this program waits for. Restores the former handlers. One at a time.
class SignalRelay {
 public:
  SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;
  ~SignalRelay();

  /// From now on, those that have come before included. As kill(2) has it: -N is process group N; N
  /// a process of this program's own group, which gets those of the terminal by itself; 0: there is
  /// nobody any more.
  void pass_to(pid_t target);
};

}  // namespace steptune
