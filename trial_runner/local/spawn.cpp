// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/spawn.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ranges>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

namespace steptune::local {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) {
  return std::generic_category().message(error);
}

/// Why a file cannot be executed; 0 when it can.
int execution_fault(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  return ::access(file.c_str(), X_OK) == 0 ? 0 : errno;
}

/// The file that `name` stands for, as the child will see it from its folder with its PATH.
Result<fs::path> find_program(const std::string& name, const SpawnRequest& request) {
  if (name.empty()) return fail(ErrorKind::runner, "the command's first word is empty");
  if (name.find('/') != std::string::npos) {
    const int fault = execution_fault(request.working_directory / name);
    if (fault == 0) return fs::path(name);
    return fail(ErrorKind::runner, fmt::format("cannot start \"{}\": {}", name, reason(fault)));
  }
  const auto found = request.environment.find("PATH");
  std::string_view path = found == request.environment.end() ? "/usr/local/bin:/usr/bin:/bin"
                                                             : std::string_view(found->second);
  int fault = ENOENT;
  while (true) {
    const std::size_t end = std::min(path.find(':'), path.size());
    const fs::path folder = end == 0 ? fs::path(".") : fs::path(path.substr(0, end));
    const int candidate_fault = execution_fault(request.working_directory / folder / name);
    if (candidate_fault == 0) return folder / name;
    if (candidate_fault == EACCES) fault = EACCES;
    if (end == path.size()) break;
    path.remove_prefix(end + 1);
  }
  return fail(ErrorKind::runner,
              fmt::format("cannot start \"{}\": {} in PATH", name, reason(fault)), {},
              "give the program's full path, or set PATH in the study's \"env\"");
}

/// posix_spawn's two descriptions, which must be destroyed again.
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
  /// Remembers the first fault.
  void check(int error) {
    if (fault == 0) fault = error;
  }

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  int fault = 0;
};

/// A duplicate where a descriptor is one of those that the child's streams replace: so it is when
/// this program was started with a standard stream closed.
UniqueFd clear_of_standard_streams(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return {};
  return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

void describe(const SpawnRequest& request, int input_fd, int output_fd, SpawnDescription& into) {
  auto* actions = &into.actions;
  const auto connect = [&](int from, int to, int null_mode) {
    into.check(from >= 0
                   ? ::posix_spawn_file_actions_adddup2(actions, from, to)
                   : ::posix_spawn_file_actions_addopen(actions, to, "/dev/null", null_mode, 0));
  };
  connect(input_fd, STDIN_FILENO, O_RDONLY);
  connect(output_fd, STDOUT_FILENO, O_WRONLY);
  connect(output_fd, STDERR_FILENO, O_WRONLY);
  into.check(::posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1));
  if (!request.working_directory.empty()) {
    into.check(::posix_spawn_file_actions_addchdir_np(actions, request.working_directory.c_str()));
  }

  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  into.check(::posix_spawnattr_setsigmask(&into.attributes, &none));
  into.check(::posix_spawnattr_setsigdefault(&into.attributes, &all));
  into.check(::posix_spawnattr_setpgroup(&into.attributes, 0));
  const int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                    (request.own_session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP);
  into.check(::posix_spawnattr_setflags(&into.attributes, static_cast<short>(flags)));
}

Error start_error(const SpawnRequest& request, const fs::path& program, int error) {
  const std::string message =
      fmt::format("cannot start \"{}\": {}", request.argv.front(), reason(error));
  if (error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE) {
    return {ErrorKind::unavailable,
            message,
            {},
            "the system is short of processes, memory or file descriptors: see ulimit -a"};
  }
  std::string hint;
  if (error == ENOENT)
    hint = fmt::format("the interpreter named in {} is missing", program.string());
  if (error == ENOEXEC)
    hint = "it is neither a program of this machine nor a script with a #! line";
  if (error == E2BIG) hint = "arguments and environment together are too long for the system";
  return {ErrorKind::runner, message, {}, hint};
}

}  // namespace

Environment own_environment() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

Result<pid_t> spawn(const SpawnRequest& request) {
  if (!request.working_directory.empty()) {
    std::error_code error;
    if (!fs::is_directory(request.working_directory, error)) {
      return fail(ErrorKind::runner,
                  fmt::format("working directory: {}", reason(error ? error.value() : ENOTDIR)),
                  request.working_directory.string());
    }
  }
  const auto cut_short = [](const std::string& text) { return text.find('\0') != text.npos; };
  if (std::ranges::any_of(request.argv, cut_short) ||
      std::ranges::any_of(request.environment | std::views::values, cut_short)) {
    return fail(ErrorKind::runner, "an argument or environment variable holds a NUL byte",
                request.argv.front());
  }
  const auto program = find_program(request.argv.front(), request);
  if (!program) return tl::unexpected(program.error());

  SpawnDescription description;
  const UniqueFd input = clear_of_standard_streams(request.stdin_fd);
  const UniqueFd output = clear_of_standard_streams(request.output_fd);
  describe(request, input ? input.get() : request.stdin_fd,
           output ? output.get() : request.output_fd, description);
  std::vector<std::string> assignments;
  assignments.reserve(request.environment.size());
  for (const auto& [name, value] : request.environment)
    assignments.push_back(name + "=" + value);
  const auto pointers = [](const std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    // exec's interface lacks a const that it keeps all the same.
    for (const std::string& text : texts)
      result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
  };
  const auto argv = pointers(request.argv);
  const auto environment = pointers(assignments);

  pid_t pid = 0;
  int error = description.fault;
  if (error == 0) {
    error = ::posix_spawn(&pid, program->c_str(), &description.actions, &description.attributes,
                          argv.data(), environment.data());
  }
  if (error != 0) return tl::unexpected(start_error(request, *program, error));
  return pid;
}

}  // namespace steptune::local
