// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <sys/types.h>

#include "common/error.hpp"
#include "common/unique_fd.hpp"
#include "trial_runner/local/spawn.hpp"

namespace steptune::local {

/// What a trial's process has from the server that it is forked from, and cannot change any more.
struct ForkServerTraits {
  std::string program;      ///< the command's first word
  Environment environment;  ///< read by libraries when they are loaded
  std::filesystem::path working_directory;
  std::vector<int> cpus;  ///< none: not bound
  auto operator<=>(const ForkServerTraits&) const = default;
};

/// Imports are done.
struct ForkServerReady {
  double import_s = 0.0;  ///< what they took
};
/// A process of the caller's: its child, leader of its own group (docs/internals/hooks-protocol.md,
/// "A fork server").
struct ForkedProcess {
  pid_t pid = 0;
};
/// That request cannot be met; without one under way, none can.
struct ForkRefused {
  std::string why;
};
/// The server has ended.
struct ForkServerGone {};
using ForkServerMessage = std::variant<ForkServerReady, ForkedProcess, ForkRefused, ForkServerGone>;

/// An interpreter that has stopped before its program begins, under PyTorch's hook, and forks
/// processes that go on as it would have. A child of this process, which has to be a subreaper
/// (`Subreaper`): so what it forks becomes this process's child, too. Not thread safe.
class ForkServer {
 public:
  /// Starts one and does not wait for it. `argv`: the command of a trial; others may differ from it
  /// in the program's arguments. `log`: its own output is appended there; empty: dropped. Errors as
  /// `spawn`.
  [[nodiscard]] static Result<ForkServer> start(const ForkServerTraits& traits,
                                                const std::vector<std::string>& argv,
                                                const std::vector<std::string>& modules,
                                                const std::filesystem::path& log);
  ForkServer(ForkServer&& other) noexcept;
  ForkServer& operator=(ForkServer&& other) noexcept;
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;
  /// Ends the server, and what it has forked that `receive` has not told. What was told goes on.
  ~ForkServer();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Readable when there is a message.
  [[nodiscard]] int fd() const { return line_.get(); }

  /// Asks for a process; requests are met in turn, after the imports. `variables` are set in it;
  /// stdout and stderr go to `output`. False: the server takes no more.
  [[nodiscard]] bool ask(const std::vector<std::string>& argv, const Environment& variables,
                         int output);

  /// The next message; nothing: none has come. Never blocks.
  [[nodiscard]] std::optional<ForkServerMessage> receive();

 private:
  ForkServer(pid_t pid, UniqueFd line) : pid_(pid), line_(std::move(line)) {}
  void end();

  pid_t pid_ = 0;
  UniqueFd line_;
};

}  // namespace steptune::local
