// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <sys/types.h>

#include "common/error.hpp"
#include "common/machine/processes.hpp"
#include "common/unique_fd.hpp"

namespace steptune::local {

/// The program `steptune-watchdog` among the shipped helpers (common/shipped_files.hpp). Errors
/// (`runner`): it is missing.
[[nodiscard]] Result<std::filesystem::path> find_watchdog_program();

/// A small process that outlives this one: when this one dies, even by SIGKILL, the watchdog kills
/// every process that carries the run's tag. Destruction ends it.
class Watchdog {
 public:
  Watchdog() = default;
  /// Returns once the watchdog is ready. Errors (`runner`): it cannot be started, or ended at once.
  [[nodiscard]] static Result<Watchdog> start(const std::filesystem::path& program,
                                              const std::string& run_tag);
  Watchdog(Watchdog&& other) noexcept;
  Watchdog& operator=(Watchdog&& other) noexcept;
  ~Watchdog();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool alive() const;

  /// Adds a process, and the group that it leads, to what the watchdog ends: a trial may clear its
  /// environment, and with it the tag.
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
