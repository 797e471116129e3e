// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/environment.hpp"
#include "common/error.hpp"
#include "tuner/cli/git_worktrees.hpp"

namespace steptune {

/// Data of a version that are needed while it runs.
struct ReadyVersion {
  std::optional<GitWorktrees> tree = {};  ///< removed with this object
};

/// Versions among which `bisect` looks for the first slow one.
struct BisectedVersions {
  std::vector<std::string> names;  ///< the good one first, the bad one last; at least two
  /// Returns the command that runs a version, once it is ready.
  std::function<std::vector<std::string>(const std::string& name)> command;
  std::function<Result<ReadyVersion>(const std::string& name)> make_ready;
  /// Returns a line about a version; may be empty.
  std::function<std::string(const std::string& name)> subject;
};

/// Returns the commits after `good` up to `bad`, of first parents, in the current folder's
/// repository. Each commit is checked out below `parent` and built by the shell command `build`,
/// unless that is empty.
[[nodiscard]] Result<BisectedVersions> commit_versions(const std::string& good,
                                                       const std::string& bad,
                                                       const std::vector<std::string>& command,
                                                       const std::string& build,
                                                       const std::filesystem::path& parent);

/// Versions of an installed Python package.
struct PackageRequest {
  std::string package;
  std::vector<std::string> versions;
  std::vector<std::string> command;
  /// Folder for the virtual environments if the user has no cache (XDG_CACHE_HOME, ~/.cache).
  std::filesystem::path folder_without_cache;
  bool quiet = false;  ///< installs without output, except errors
};

/// Returns the versions of a package. Each one is installed by pip into a virtual environment,
/// which is kept for later bisections. It sees the other packages of the command's Python. Fails
/// with `usage` if a name or version cannot be one.
[[nodiscard]] Result<BisectedVersions> package_versions(const PackageRequest& request,
                                                        const Environment& environment);

}  // namespace steptune
