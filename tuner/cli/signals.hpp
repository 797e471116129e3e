// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace steptune
