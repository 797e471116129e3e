// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>
#include <tl/expected.hpp>

namespace steptune {

/// Process group and session of a child. They decide whether the child gets the terminal's signals
/// (such as Ctrl-C), and whether a signal to the child's group also reaches its descendants.
enum class ChildScope {
  same_group,   ///< the group of this program
  own_group,    ///< a new process group
  own_session,  ///< a new session, without a terminal
};

/// Values for a child's standard streams in place of a file descriptor.
inline constexpr int k_null_stream = -1;  ///< /dev/null
inline constexpr int k_own_stream = -2;   ///< inherited from this program

/// Seconds between two looks at processes, such as checks if a child process has ended.
inline constexpr double k_child_poll_s = 0.02;

struct ChildRequest {
  std::vector<std::string> argv;  ///< not empty
  /// Searched for in this program's PATH. If empty, `argv[0]` is searched for.
  std::string program;
  std::vector<std::string> environment;     ///< the whole environment, as `NAME=value`
  std::filesystem::path working_directory;  ///< if empty, this program's
  ChildScope scope = ChildScope::own_group;
  int in = k_null_stream;
  int out = k_null_stream;
  int err = k_null_stream;
  /// If true, descriptors without FD_CLOEXEC stay open; otherwise only the three standard streams.
  bool keeps_descriptors = false;
};

/// Starts a program without a shell. The child has default signal handling, no blocked signals and
/// the calling thread's CPU affinity. Returns the system's error number if the program cannot be
/// started. Uses posix_spawn, never fork, so that neither memory nor locks of this program are
/// duplicated.
[[nodiscard]] tl::expected<pid_t, int> start_child(const ChildRequest& request);

/// Returns advice for a program `name` (`argv[0]`) that does not exist. Recognizes commands that
/// need a shell, and command lines in one pair of quotes. May be empty.
[[nodiscard]] std::string missing_program_hint(std::string_view name);

/// Returns all environment variables of this process, for its children.
[[nodiscard]] std::map<std::string, std::string> process_variables();
/// Returns each variable as `NAME=value`, as exec expects them.
[[nodiscard]] std::vector<std::string> assignments(
    const std::map<std::string, std::string>& variables);

/// Returns pointers into `texts` with a null pointer at the end, as exec expects them. The pointers
/// are not const because of exec's signature; exec does not write to the texts.
[[nodiscard]] std::vector<char*> exec_pointers(const std::vector<std::string>& texts);

}  // namespace steptune
