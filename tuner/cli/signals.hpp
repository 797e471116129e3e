// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <sys/types.h>

#include "tuner/cli/exit_code.hpp"

namespace steptune {

/// While the object exists, SIGINT, SIGTERM and SIGHUP only set a flag, and waiting system calls
/// return early. The destructor restores the former handlers. Only one may exist at a time.
class SignalFlags {
 public:
  SignalFlags();
  SignalFlags(const SignalFlags&) = delete;
  SignalFlags& operator=(const SignalFlags&) = delete;
  ~SignalFlags();

  /// Number of these signals so far.
  [[nodiscard]] int count() const;
  /// Returns `interrupted` or `terminated` by the first signal; `ok` if there was none.
  [[nodiscard]] ExitCode exit_code() const;
};

/// While the object exists, this program passes signals on to a child and ignores them itself, even
/// while it waits. Passes on the signals that ask a program to end or save its state: SIGINT,
/// SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2. The destructor restores the former handlers. Only
/// one may exist at a time.
class SignalRelay {
 public:
  SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;
  ~SignalRelay();

  /// Passes signals to `target`, including signals that arrived earlier. As in kill(2), a negative
  /// number -N means process group N. A positive number means a process in this program's own
  /// group. The terminal sends its signals directly to that group. 0 means that the target has
  /// ended.
  void pass_to(pid_t target);
};

/// First word of a command line that this program gives to itself. The number of the parent process
/// follows. Not shown to people.
inline constexpr const char* k_child_word = "__child";

/// From now on, this process gets SIGTERM if its parent ends. Returns false if the parent is not
/// the process with this number, because it has ended already.
[[nodiscard]] bool end_with_parent(const std::string& parent);

}  // namespace steptune
