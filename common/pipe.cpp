// SPDX-License-Identifier: Apache-2.0
#include "common/pipe.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "common/system_reason.hpp"

namespace steptune {

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorKind::unavailable, "cannot create a pipe: " + system_reason(errno), {},
                "raise the limit of open files: ulimit -n");
  }
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace steptune
