// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/server.hpp"

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include "common/json.hpp"
#include "common/pause.hpp"

namespace steptune::mcp {
namespace {

/// Cuts the client's bytes into lines.
class Lines {
 public:
  /// Reads once and passes each whole line on. Returns false at the end.
  bool read(int in, Session& session) {
    std::array<char, 65536> buffer{};
    const ssize_t count = ::read(in, buffer.data(), buffer.size());
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    for (const char c : std::string_view(buffer.data(), static_cast<std::size_t>(count))) {
      if (c != '\n') {
        // Drop the end of a line that is too long. Parsing then refuses the line.
        if (line_.size() <= k_max_document_bytes) line_ += c;
        continue;
      }
      if (line_.find_first_not_of(" \t\r") != std::string::npos) session.on_line(line_);
      line_.clear();
    }
    return count > 0;
  }

 private:
  std::string line_;
};

}  // namespace

void serve_client(int in, Session& session, ChildPrograms& children,
                  const std::function<bool()>& should_end) {
  const ChildPrograms::Listener listener{
      [&](std::int64_t program, std::string_view line) { session.on_program_line(program, line); },
      [&](std::int64_t program, const EndedProgram& ended) {
        session.on_program_end(program, ended);
      }};
  Lines lines;
  while (!should_end()) {
    std::vector<pollfd> descriptors{{in, POLLIN, 0}};
    children.add_to(descriptors);
    // If a signal arrives just before `poll`, `should_end` is called only after it, at most
    // `k_poll_s` later.
    const int ready =
        ::poll(descriptors.data(), descriptors.size(), static_cast<int>(1e3 * k_poll_s));
    if (ready > 0 && descriptors.front().revents != 0 && !lines.read(in, session)) break;
    children.poll(listener);
    session.poll();
  }
  children.end_all();
}

}  // namespace steptune::mcp
