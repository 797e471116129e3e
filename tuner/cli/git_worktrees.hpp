// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/history/lock_file.hpp"

namespace steptune {

/// Returns the output of git with these arguments, without the final newline. Fails with `usage`,
/// for the reason `why`, if git fails.
[[nodiscard]] Result<std::string> git_output(std::vector<std::string> arguments,
                                             const std::string& why);

/// Returns the folder of the working tree with this number below `parent`. Numbers start at 1.
[[nodiscard]] std::filesystem::path working_tree(const std::filesystem::path& parent,
                                                 std::size_t number, const std::string& commit);

/// Folder of working trees. Only one process at a time may use it, because two processes would
/// remove each other's trees.
struct TreesFolder {
  std::filesystem::path path;
  LockFile lock;

  /// Locks the folder `name` beside the database, and removes working trees that killed processes
  /// have left in it. Fails with `conflict` if another process uses the folder.
  [[nodiscard]] static Result<TreesFolder> take(const std::filesystem::path& database,
                                                const std::string& name);
};

/// Working trees of revisions of the repository in the current folder. The destructor removes
/// them.
class GitWorktrees {
 public:
  /// Checks out each revision below `parent`. Creates `parent`, and removes it together with the
  /// last tree. Errors (`usage`): the current folder is in no repository, a revision is unknown, or
  /// git cannot check it out.
  [[nodiscard]] static Result<GitWorktrees> check_out(const std::vector<std::string>& revisions,
                                                      const std::filesystem::path& parent);
  GitWorktrees(GitWorktrees&& other) noexcept;
  GitWorktrees& operator=(GitWorktrees&&) = delete;
  ~GitWorktrees();

  /// Runs a shell command in each tree, in the folder that corresponds to the current one. Its
  /// output goes to stderr. Fails with `usage` if the command fails in one of the trees.
  [[nodiscard]] Result<void> build(const std::string& shell_command) const;

  /// Returns the folder in each tree that corresponds to the current one, in the order of the
  /// revisions.
  [[nodiscard]] const std::vector<std::filesystem::path>& folders() const { return folders_; }
  /// Returns the hash of each commit, in the same order.
  [[nodiscard]] const std::vector<std::string>& commits() const { return commits_; }

 private:
  GitWorktrees() = default;

  std::vector<std::filesystem::path> trees_;
  std::vector<std::filesystem::path> folders_;
  std::vector<std::string> commits_;
};

}  // namespace steptune
