// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/spawn.hpp"

#include <algorithm>
#include <cerrno>
#include <ranges>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/child_process.hpp"
#include "common/system_reason.hpp"

namespace steptune::local {
namespace {

namespace fs = std::filesystem;

/// Returns the error number that prevents execution of a file; 0 if it can be executed.
int execution_fault(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  return ::access(file.c_str(), X_OK) == 0 ? 0 : errno;
}

/// Resolves `name` to a file as the child would, with its folder and its PATH.
Result<fs::path> find_program(const std::string& name, const SpawnRequest& request) {
  if (name.empty()) return fail(ErrorKind::runner, "the command's first word is empty");
  if (name.find('/') != std::string::npos) {
    const int fault = execution_fault(request.working_directory / name);
    if (fault == 0) return fs::path(name);
    return fail(ErrorKind::runner,
                fmt::format("cannot start \"{}\": {}", name, system_reason(fault)));
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
              fmt::format("cannot start \"{}\": {} in PATH", name, system_reason(fault)), {},
              fault == ENOENT ? missing_program_hint(name) : "give the program's full path");
}

Error start_error(const SpawnRequest& request, const fs::path& program, int error) {
  const std::string message =
      fmt::format("cannot start \"{}\": {}", request.argv.front(), system_reason(error));
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

Result<pid_t> spawn(const SpawnRequest& request) {
  if (!request.working_directory.empty()) {
    std::error_code error;
    if (!fs::is_directory(request.working_directory, error)) {
      return fail(
          ErrorKind::runner,
          fmt::format("working directory: {}", system_reason(error ? error.value() : ENOTDIR)),
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

  ChildRequest child;
  child.argv = request.argv;
  child.program = program->string();
  child.environment = assignments(request.environment);
  child.working_directory = request.working_directory;
  child.scope = request.own_session ? ChildScope::own_session : ChildScope::own_group;
  child.in = request.stdin_fd;
  child.out = request.output_fd;
  child.err = request.output_fd;
  const auto pid = start_child(child);
  if (!pid) return tl::unexpected(start_error(request, *program, pid.error()));
  return *pid;
}

}  // namespace steptune::local
