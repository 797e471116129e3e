// SPDX-License-Identifier: Apache-2.0
#include "common/child_process.hpp"

#include <csignal>
#include <string_view>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include "common/document/identifiers.hpp"
#include "common/unique_fd.hpp"

namespace steptune {
namespace {

/// Owns the file actions and attributes of one posix_spawn call.
class SpawnDescription {
 public:
  SpawnDescription() {
    check(::posix_spawn_file_actions_init(&actions));
    check(::posix_spawnattr_init(&attributes));
  }
  SpawnDescription(const SpawnDescription&) = delete;
  SpawnDescription& operator=(const SpawnDescription&) = delete;
  ~SpawnDescription() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  /// Keeps the first error number.
  void check(int error) {
    if (fault == 0) fault = error;
  }

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  int fault = 0;
};

/// Returns a duplicate of `fd` if `fd` is 0, 1 or 2, otherwise an empty descriptor. If this program
/// was started with a closed standard stream, the next file that it opens gets that stream's
/// number. Connecting the child's streams would then overwrite the file.
UniqueFd clear_of_standard_streams(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return {};
  return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

void connect(int from, int to, int null_mode, SpawnDescription& into) {
  if (from == k_own_stream) return;
  into.check(
      from >= 0 ? ::posix_spawn_file_actions_adddup2(&into.actions, from, to)
                : ::posix_spawn_file_actions_addopen(&into.actions, to, "/dev/null", null_mode, 0));
}

void describe_scope(ChildScope scope, SpawnDescription& into) {
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  into.check(::posix_spawnattr_setsigmask(&into.attributes, &none));
  into.check(::posix_spawnattr_setsigdefault(&into.attributes, &all));
  into.check(::posix_spawnattr_setpgroup(&into.attributes, 0));
  int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (scope == ChildScope::own_group) flags |= POSIX_SPAWN_SETPGROUP;
  if (scope == ChildScope::own_session) flags |= POSIX_SPAWN_SETSID;
  into.check(::posix_spawnattr_setflags(&into.attributes, static_cast<short>(flags)));
}

}  // namespace

tl::expected<pid_t, int> start_child(const ChildRequest& request) {
  SpawnDescription description;
  const UniqueFd in = clear_of_standard_streams(request.in);
  const UniqueFd out = clear_of_standard_streams(request.out);
  const UniqueFd err = clear_of_standard_streams(request.err);
  connect(in ? in.get() : request.in, STDIN_FILENO, O_RDONLY, description);
  connect(out ? out.get() : request.out, STDOUT_FILENO, O_WRONLY, description);
  connect(err ? err.get() : request.err, STDERR_FILENO, O_WRONLY, description);
  if (!request.keeps_descriptors) {
    description.check(
        ::posix_spawn_file_actions_addclosefrom_np(&description.actions, STDERR_FILENO + 1));
  }
  if (!request.working_directory.empty()) {
    description.check(::posix_spawn_file_actions_addchdir_np(&description.actions,
                                                             request.working_directory.c_str()));
  }
  describe_scope(request.scope, description);
  const std::string& program = request.program.empty() ? request.argv.front() : request.program;
  pid_t pid = -1;
  int error = description.fault;
  if (error == 0) {
    error = ::posix_spawnp(&pid, program.c_str(), &description.actions, &description.attributes,
                           exec_pointers(request.argv).data(),
                           exec_pointers(request.environment).data());
  }
  if (error != 0) return tl::unexpected(error);
  return pid;
}

std::string missing_program_hint(std::string_view name) {
  const std::size_t equals = name.find('=');
  if (equals != std::string_view::npos && document::is_identifier(name.substr(0, equals))) {
    return "only a shell sets variables like this: begin the command with env, as in env "
           "NAME=VALUE python3 train.py";
  }
  if (name.find(' ') != std::string_view::npos) {
    return "the whole text was read as the name of one program: do not quote the command as a "
           "whole";
  }
  if (name.find('/') != std::string_view::npos) return "";
  return "give the program's full path, or set PATH in the shell that starts steptune; shell "
         "aliases and functions cannot be used";
}

std::map<std::string, std::string> process_variables() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::vector<std::string> assignments(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> result;
  result.reserve(variables.size());
  for (const auto& [name, value] : variables)
    result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> exec_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  // exec takes non-const pointers, but does not write to the texts.
  for (const std::string& text : texts)
    pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace steptune
