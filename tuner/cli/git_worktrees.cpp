// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/git_worktrees.hpp"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/child_process.hpp"
#include "common/short_hash.hpp"
#include "common/text.hpp"
#include "tuner/cli/child_command.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

/// Removes a working tree. If git fails, deletes the tree's folder, and leaves git's record of the
/// tree to `git worktree prune`.
void remove_tree(const fs::path& tree) {
  const auto removed = run_to_end(
      {"git", "worktree", "remove", "--force", "--force", tree.string()}, {}, k_null_stream);
  if (removed) return;
  std::error_code error;
  fs::remove_all(tree, error);
}

}  // namespace

Result<std::string> git_output(std::vector<std::string> arguments, const std::string& why) {
  arguments.insert(arguments.begin(), "git");
  auto output = run_to_end(std::move(arguments), {}, k_null_stream);
  if (!output) {
    return fail(ErrorKind::usage, why, "",
                "run steptune inside of a git repository, with revisions that it has");
  }
  while (output->ends_with('\n'))
    output->pop_back();
  return *std::move(output);
}

fs::path working_tree(const fs::path& parent, std::size_t number, const std::string& commit) {
  return parent / fmt::format("{}-{}", number, short_hash(commit));
}

Result<TreesFolder> TreesFolder::take(const fs::path& database, const std::string& name) {
  const fs::path trees = fs::absolute(database).parent_path() / "worktrees";
  std::error_code error;
  fs::create_directories(trees, error);
  auto lock = LockFile::acquire(trees / (name + ".lock"));
  if (!lock) return tl::unexpected(lock.error());
  TreesFolder folder{trees / name, *std::move(lock)};
  std::vector<fs::path> left;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.path, error))
    left.push_back(entry.path());
  for (const fs::path& tree : left)
    remove_tree(tree);
  return folder;
}

Result<GitWorktrees> GitWorktrees::check_out(const std::vector<std::string>& revisions,
                                             const fs::path& parent) {
  const auto prefix =
      git_output({"rev-parse", "--show-prefix"}, "this folder is in no git repository");
  if (!prefix) return tl::unexpected(prefix.error());
  std::error_code error;
  GitWorktrees worktrees;
  for (const std::string& revision : revisions) {
    const auto commit =
        git_output({"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"},
                   fmt::format("unknown revision {}", printable_line(revision, 80)));
    if (!commit) return tl::unexpected(commit.error());
    const fs::path tree = working_tree(parent, worktrees.trees_.size() + 1, *commit);
    const auto added = run_to_end({"git", "worktree", "add", "--quiet", "--detach", "--force",
                                   "--force", tree.string(), *commit},
                                  {}, k_own_stream);
    if (!added) {
      fs::remove(parent, error);  // fails while it contains other trees
      return fail(ErrorKind::usage,
                  fmt::format("git cannot check out {}", printable_line(revision, 80)), "",
                  "its output is above");
    }
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
    remove_tree(tree);
    std::error_code error;
    fs::remove(tree.parent_path(), error);  // fails while it contains other trees
  }
}

Result<void> GitWorktrees::build(const std::string& shell_command) const {
  for (const fs::path& folder : folders_) {
    if (run_to_end({"/bin/sh", "-c", "exec >&2\n" + shell_command}, folder, k_own_stream)) continue;
    return fail(ErrorKind::usage,
                fmt::format("the command failed in {}", printable_line(folder.string(), 300)),
                "--build", "its output is above");
  }
  return {};
}

}  // namespace steptune
