// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <sys/types.h>

#include "common/error.hpp"
#include "trial_runner/local/proc.hpp"
#include "trial_runner/output/unique_fd.hpp"

namespace steptune::local {

/// The program `steptune-guard`, beside this program or in `../libexec/steptune` from it.
[[nodiscard]] Result<std::filesystem::path> find_guard_program();

/// A small process that outlives this one: when this one dies, however it dies, the guard kills
/// everything that carries the run's mark. Told to quit on destruction.
class Guard {
 public:
  Guard() = default;
  /// Returns once the guard is at its post.
  [[nodiscard]] static Result<Guard> start(const std::filesystem::path& program,
                                           const std::string& run_tag);
  Guard(Guard&& other) noexcept;
  Guard& operator=(Guard&& other) noexcept;
  ~Guard();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool alive() const;

  /// Has the guard end this process group as well: a trial may clear its environment.
  void watch(const ProcessId& leader);
  void forget(const ProcessId& leader);

 private:
  [[nodiscard]] bool says_ready() const;
  void send(const std::string& line);
  void quit();

  pid_t pid_ = 0;
  UniqueFd line_;
};

}  // namespace steptune::local
