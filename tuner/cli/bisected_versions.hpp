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

/// A version that can be run while this object exists.
struct ReadyVersion {
  std::optional<GitWorktrees> tree = {};  ///< removed with this object
};

/// Versions among which `bisect` looks for the first slow one.
struct BisectedVersions {
  std::vector<std::string> names;  ///< the good one first, the bad one last; at least two
  /// Returns the command that runs a version. Call `make_ready` first.
  std::function<std::vector<std::string>(const std::string& name)> command;
  std::function<Result<ReadyVersion>(const std::string& name)> make_ready;
  /// Returns a version's description in one line, such as a commit's subject; may be empty.
  std::function<std::string(const std::string& name)> subject;
};

/// Returns `good` and the commits after it up to `bad`, along first parents, in the current
/// folder's repository. `make_ready` checks a commit out below `parent` and builds it with the
/// shell command `build`. If `build` is empty, nothing is built.
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

/// Returns the versions of a package. `make_ready` installs a version with pip into a virtual
/// environment, which is kept for later bisections. The environment also sees the other packages of
/// the command's Python. Fails with `usage` if the name or a version is malformed.
[[nodiscard]] Result<BisectedVersions> package_versions(const PackageRequest& request,
                                                        const Environment& environment);

}  // namespace steptune
