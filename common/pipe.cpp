// SPDX-License-Identifier: Apache-2.0
#include "common/pipe.hpp"

#include <algorithm>
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

std::string read_to_end(const UniqueFd& descriptor, std::size_t most) {
  std::string text;
  std::array<char, 4096> block{};
  for (;;) {
    const ssize_t count = ::read(descriptor.get(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(block.data(), std::min(static_cast<std::size_t>(count), most - text.size()));
  }
}

}  // namespace steptune
