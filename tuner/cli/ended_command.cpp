// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/ended_command.hpp"

#include <cerrno>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

#include "common/child_process.hpp"
#include "common/pipe.hpp"

namespace steptune {

EndedCommand run_to_end(std::vector<std::string> argv, const std::filesystem::path& folder,
                        int err) {
  auto pipe = make_pipe();
  if (!pipe) return {};
  ChildRequest request;
  request.argv = std::move(argv);
  request.environment = assignments(process_variables());
  request.working_directory = folder;
  request.scope = ChildScope::same_group;
  request.out = pipe->write.get();
  request.err = err;
  const auto child = start_child(request);
  pipe->write.reset();
  if (!child) return {};
  EndedCommand ended;
  char buffer[4096];
  while (true) {
    const ssize_t count = ::read(pipe->read.get(), buffer, sizeof buffer);
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
