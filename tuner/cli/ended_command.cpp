// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/ended_command.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/child_process.hpp"
#include "common/unique_fd.hpp"

namespace steptune {

EndedCommand run_to_end(std::vector<std::string> argv, const std::filesystem::path& folder,
                        int err) {
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

}  // namespace steptune
