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

/// Properties that a forked process inherits from its fork server and cannot change.
struct ForkServerTraits {
  std::string program;      ///< first word of the command
  Environment environment;  ///< variables, which libraries read when they are loaded
  std::filesystem::path working_directory;
  std::vector<int> cpus;  ///< empty: not bound
  auto operator<=>(const ForkServerTraits&) const = default;
};

/// Message: the server has finished its imports.
struct ForkServerReady {
  double import_s = 0.0;  ///< duration of the imports
};
/// Message: the server has forked a process. The process is a child of the calling process and
/// leads its own process group (docs/internals/hooks-protocol.md, "A fork server").
struct ForkedProcess {
  pid_t pid = 0;
};
/// Message: the server cannot fork a process for the current request. Without a current request:
/// the server can fork no process at all.
struct ForkRefused {
  std::string why;
};
/// Message: the server has ended.
struct ForkServerGone {};
using ForkServerMessage = std::variant<ForkServerReady, ForkedProcess, ForkRefused, ForkServerGone>;

/// A Python interpreter with PyTorch's hook that stops before its program begins. It forks
/// processes that continue from that point. The server is a child of this process, which must be a
/// subreaper (`Subreaper`), so that forked processes become children of this process, too. Not
/// thread safe.
class ForkServer {
 public:
  /// Starts a server without waiting for it. `argv` is the command of a trial; commands of other
  /// trials may differ in the program's arguments. The server's own output is appended to the file
  /// `log`; if `log` is empty, it is dropped. Returns an `unavailable` error if no socket can be
  /// created; other errors as in `spawn`.
  [[nodiscard]] static Result<ForkServer> start(const ForkServerTraits& traits,
                                                const std::vector<std::string>& argv,
                                                const std::vector<std::string>& modules,
                                                const std::filesystem::path& log);
  ForkServer(ForkServer&& other) noexcept;
  ForkServer& operator=(ForkServer&& other) noexcept;
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;
  /// Ends the server, and forked processes that `receive` has not returned. Returned processes
  /// continue.
  ~ForkServer();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Returns the descriptor, which is readable when a message is available.
  [[nodiscard]] int fd() const { return line_.get(); }

  /// Requests a forked process. The server handles requests in order, after its imports.
  /// `variables` are set in the process; its stdout and stderr go to `output`. Returns false if the
  /// server accepts no more requests.
  [[nodiscard]] bool ask(const std::vector<std::string>& argv, const Environment& variables,
                         int output);

  /// Returns the next message; nullopt if there is none. Never blocks.
  [[nodiscard]] std::optional<ForkServerMessage> receive();

 private:
  ForkServer(pid_t pid, UniqueFd line) : pid_(pid), line_(std::move(line)) {}
  void end();

  pid_t pid_ = 0;
  UniqueFd line_;
};

}  // namespace steptune::local
