// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <sys/types.h>

#include "common/error.hpp"
#include "common/machine/processes.hpp"
#include "common/unique_fd.hpp"

namespace steptune::local {

/// Returns the path of the installed helper `steptune-watchdog` (common/shipped_files.hpp). Returns
/// a `runner` error if it is missing.
[[nodiscard]] Result<std::filesystem::path> find_watchdog_program();

/// A small process that outlives this one. If this process dies, even by SIGKILL, the watchdog
/// kills every process with the run's tag. The destructor ends the watchdog.
class Watchdog {
 public:
  Watchdog() = default;
  /// Starts the watchdog and waits until it is ready. Returns a `runner` error if the watchdog
  /// cannot be started or ends at once.
  [[nodiscard]] static Result<Watchdog> start(const std::filesystem::path& program,
                                              const std::string& run_tag);
  Watchdog(Watchdog&& other) noexcept;
  Watchdog& operator=(Watchdog&& other) noexcept;
  ~Watchdog();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool alive() const;

  /// Lets the watchdog also end this process and the process group that it leads. Needed because a
  /// trial may clear its environment and thereby its tag.
  void watch(const ProcessId& process);
  void forget(const ProcessId& process);

 private:
  [[nodiscard]] bool is_ready() const;
  void send(const std::string& line);
  void quit();

  pid_t pid_ = 0;
  UniqueFd line_;
};

}  // namespace steptune::local
