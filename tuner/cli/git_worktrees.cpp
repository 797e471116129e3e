// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/git_worktrees.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/child_process.hpp"
#include "common/text.hpp"
#include "common/unique_fd.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

struct EndedCommand {
  int status = -1;  ///< exit code; -1: it could not be started, or a signal ended it
  std::string out;
};

/// Runs a program to its end and returns its standard output; its errors go to `err`.
EndedCommand run_to_end(std::vector<std::string> argv, const fs::path& folder, int err) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  ChildRequest request;
  request.argv = std::move(argv);
  request.environment = assignments(process_variables());
  request.working_directory = folder;
  request.scope = ChildScope::same_group;
  request.out = write_end.get();
  request.err = err;
  const auto child = start_child(request);
  write_end.reset();
  if (!child) return {};
  EndedCommand ended;
  char buffer[4096];
  while (true) {
    const ssize_t count = ::read(read_end.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    ended.out.append(buffer, static_cast<std::size_t>(count));
  }
  int status = 0;
  while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
  return ended;
}

}  // namespace

Result<std::string> git_output(std::vector<std::string> arguments, const std::string& why) {
  arguments.insert(arguments.begin(), "git");
  EndedCommand ended = run_to_end(std::move(arguments), {}, k_null_stream);
  if (ended.status != 0) {
    return fail(ErrorKind::usage, why, "--git",
                "run the command inside of a git repository, with revisions that it has");
  }
  while (!ended.out.empty() && ended.out.back() == '\n')
    ended.out.pop_back();
  return std::move(ended.out);
}

Result<GitWorktrees> GitWorktrees::check_out(const std::vector<std::string>& revisions,
                                             const fs::path& parent) {
  const auto prefix =
      git_output({"rev-parse", "--show-prefix"}, "this folder is in no git repository");
  if (!prefix) return tl::unexpected(prefix.error());
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) {
    return fail(ErrorKind::store, fmt::format("cannot create the folder: {}", error.message()),
                parent.string());
  }
  GitWorktrees worktrees;
  for (const std::string& revision : revisions) {
    const auto commit =
        git_output({"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"},
                   fmt::format("unknown revision {}", printable_line(revision, 80)));
    if (!commit) return tl::unexpected(commit.error());
    const fs::path tree =
        parent / fmt::format("{}-{}", worktrees.trees_.size() + 1, commit->substr(0, 12));
    const auto added =
        git_output({"worktree", "add", "--detach", "--force", tree.string(), *commit},
                   fmt::format("git cannot check out {}", printable_line(revision, 80)));
    if (!added) return tl::unexpected(added.error());
    worktrees.trees_.push_back(tree);
    worktrees.folders_.push_back((tree / *prefix).lexically_normal());
    worktrees.commits_.push_back(*commit);
  }
  return worktrees;
}

GitWorktrees::GitWorktrees(GitWorktrees&& other) noexcept
    : trees_(std::exchange(other.trees_, {})),
      folders_(std::exchange(other.folders_, {})),
      commits_(std::exchange(other.commits_, {})) {}

GitWorktrees::~GitWorktrees() {
  for (const fs::path& tree : trees_) {
    // A tree that cannot be removed is left for `git worktree prune`.
    (void)run_to_end({"git", "worktree", "remove", "--force", tree.string()}, {}, k_null_stream);
  }
}

Result<void> GitWorktrees::build(const std::string& shell_command) const {
  for (const fs::path& folder : folders_) {
    const EndedCommand ended =
        run_to_end({"/bin/sh", "-c", "exec >&2\n" + shell_command}, folder, k_own_stream);
    if (ended.status == 0) continue;
    return fail(ErrorKind::usage,
                fmt::format("the command failed in {}", printable_line(folder.string(), 300)),
                "--build", "its output is above");
  }
  return {};
}

}  // namespace steptune
