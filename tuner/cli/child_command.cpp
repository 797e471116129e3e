// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/child_command.hpp"

#include <cerrno>
#include <utility>

#include <sys/wait.h>

#include "common/child_process.hpp"
#include "common/pipe.hpp"
#include "common/text.hpp"
#include "trial_runner/launch/command_words.hpp"
#include "trial_runner/launch/outer_ranks.hpp"

namespace steptune {

std::vector<std::string> child_environment(const std::vector<std::string>& argv,
                                           const std::map<std::string, std::string>& variables) {
  auto all = process_variables();
  if (launcher_in(argv)) forget_outer_ranks(all);
  for (const auto& [name, value] : variables)
    all.insert_or_assign(name, value);
  return assignments(all);
}

std::optional<std::string> run_to_end(std::vector<std::string> argv,
                                      const std::filesystem::path& folder, int err) {
  auto pipe = make_pipe();
  if (!pipe) return std::nullopt;
  ChildRequest request;
  request.argv = std::move(argv);
  request.environment = assignments(process_variables());
  request.working_directory = folder;
  request.scope = ChildScope::same_group;
  request.out = pipe->write.get();
  request.err = err;
  const auto child = start_child(request);
  pipe->write.reset();
  if (!child) return std::nullopt;
  std::string output = read_to_end(pipe->read, k_any_length);
  int status = 0;
  while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return output;
}

}  // namespace steptune
