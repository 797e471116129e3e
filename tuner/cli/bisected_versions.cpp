// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/bisected_versions.hpp"

#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/judged_versions.hpp"

namespace steptune {

Result<BisectedVersions> commit_versions(const std::string& good, const std::string& bad,
                                         const std::vector<std::string>& command,
                                         const std::string& build,
                                         const std::filesystem::path& parent) {
  const std::string range = good + ".." + bad;
  const std::string unknown = fmt::format("git does not know {}", printable_line(range, 80));
  const auto listed = git_output({"rev-list", "--reverse", "--first-parent", range}, unknown);
  if (!listed) return tl::unexpected(listed.error());
  const auto first = git_output({"rev-parse", "--verify", "--quiet", good + "^{commit}"}, unknown);
  if (!first) return tl::unexpected(first.error());
  BisectedVersions versions;
  versions.names.push_back(*first);
  std::istringstream lines(*listed);
  for (std::string line; std::getline(lines, line);)
    versions.names.push_back(line);
  if (versions.names.size() < 2) {
    return fail(
        ErrorKind::usage,
        fmt::format("{} does not come after {}", printable_line(bad, 80), printable_line(good, 80)),
        "", "give the good revision first");
  }
  const auto prefix =
      git_output({"rev-parse", "--show-prefix"}, "this folder is in no git repository");
  if (!prefix) return tl::unexpected(prefix.error());
  versions.command = [command, parent, prefix = *prefix](const std::string& commit) {
    return in_folder((working_tree(parent, 1, commit) / prefix).lexically_normal(), command);
  };
  versions.make_ready = [build, parent](const std::string& commit) -> Result<ReadyVersion> {
    auto tree = GitWorktrees::check_out({commit}, parent);
    if (!tree) return tl::unexpected(tree.error());
    if (!build.empty()) {
      if (auto built = tree->build(build); !built) return tl::unexpected(built.error());
    }
    ReadyVersion ready;
    ready.tree.emplace(*std::move(tree));
    return ready;
  };
  versions.subject = [](const std::string& commit) {
    return git_output({"log", "-1", "--format=%s", commit}, "no message").value_or("");
  };
  return versions;
}

}  // namespace steptune
