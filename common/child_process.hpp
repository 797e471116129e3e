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

/// Which signals of a terminal reach a child, and which of `kill` its descendants.
enum class ChildScope {
  same_group,   ///< as this program
  own_group,    ///< a process group of its own
  own_session,  ///< a session of its own: no terminal
};

/// In place of a descriptor for a standard stream of a child.
inline constexpr int k_null_stream = -1;  ///< /dev/null
inline constexpr int k_own_stream = -2;   ///< this program's

struct ChildRequest {
  std::vector<std::string> argv;            ///< not empty
  std::string program;                      ///< looked up in this program's PATH; empty: argv[0]
  std::vector<std::string> environment;     ///< all of it, `NAME=value`
  std::filesystem::path working_directory;  ///< empty: this program's
  ChildScope scope = ChildScope::own_group;
  int in = k_null_stream;
  int out = k_null_stream;
  int err = k_null_stream;
  bool keeps_descriptors = false;  ///< those without FD_CLOEXEC; else none but the three
};

/// Starts a program: no shell; default signal dispositions, no blocked signal; CPU affinity of the
/// calling thread. Uses posix_spawn, never fork, so that neither memory nor locks of this program
/// are duplicated. The system's error number where it cannot be started.
[[nodiscard]] tl::expected<pid_t, int> start_child(const ChildRequest& request);

/// What to do where there is no program of this name, `argv[0]`: what a shell would have made of it
/// told, where it looks so.
[[nodiscard]] std::string missing_program_hint(std::string_view name);

/// All variables of this process, for its children.
[[nodiscard]] std::map<std::string, std::string> process_variables();
/// `NAME=value` of each, as exec and its like take it.
[[nodiscard]] std::vector<std::string> assignments(
    const std::map<std::string, std::string>& variables);

/// What exec and its like take: pointers into `texts`, which are not written to, and a null at the
/// end.
[[nodiscard]] std::vector<char*> exec_pointers(const std::vector<std::string>& texts);

}  // namespace steptune
