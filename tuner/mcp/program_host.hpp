// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/error.hpp"
#include "tuner/mcp/invocation.hpp"

namespace steptune::mcp {

/// Starts programs for a session, and asks them to end.
class ProgramHost {
 public:
  ProgramHost() = default;
  ProgramHost(const ProgramHost&) = delete;
  ProgramHost& operator=(const ProgramHost&) = delete;
  virtual ~ProgramHost() = default;

  /// Starts the program. Returns a number that identifies it.
  [[nodiscard]] virtual Result<std::int64_t> start(const Invocation& invocation) = 0;
  /// Asks a program to save its work and end, as Ctrl-C does. Kills a program that does not end in
  /// time. Further requests change nothing.
  virtual void interrupt(std::int64_t program) = 0;
};

}  // namespace steptune::mcp
