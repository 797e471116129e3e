// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>
#include <sys/types.h>

#include "common/clock.hpp"
#include "common/unique_fd.hpp"
#include "tuner/mcp/condense.hpp"
#include "tuner/mcp/program_host.hpp"

namespace steptune::mcp {

/// Runs this same program as child processes. Each child is the leader of its own process group. If
/// this process is killed, the children end, too.
class ChildPrograms final : public ProgramHost {
 public:
  struct Listener {
    std::function<void(std::int64_t, std::string_view)> on_line;  ///< on stderr
    std::function<void(std::int64_t, const EndedProgram&)> on_end;
  };

  /// `first_words` are the program and the words before the command.
  ChildPrograms(std::vector<std::string> first_words, const Clock& clock);
  /// Ends all children and waits until they are gone.
  ~ChildPrograms() override;

  [[nodiscard]] Result<std::int64_t> start(const Invocation& invocation) override;
  void interrupt(std::int64_t program) override;

  [[nodiscard]] bool empty() const { return children_.empty(); }
  /// Adds the descriptors of the children's output, to be polled for reading.
  void add_to(std::vector<pollfd>& descriptors) const;
  /// Reads the available output and reports ended children. Kills children that do not end in time
  /// after a request.
  void poll(const Listener& listener);
  /// Asks all children to end, kills children that do not end in time, and waits for all of them.
  void end_all();

 private:
  /// A child and its output so far.
  struct Child {
    std::int64_t number = 0;
    pid_t pid = -1;
    UniqueFd out;
    UniqueFd err;
    EndedProgram ended;
    std::string line;             ///< the unfinished last line on stderr
    double interrupted_s = -1.0;  ///< time of the first request to end; negative: none
    int requests = 0;             ///< number of signals sent so far
  };

  void read_output(Child& child, const Listener& listener) const;
  /// Sends the next signal if `patience_s` seconds have passed since the previous one. The third
  /// signal is SIGKILL.
  void press(Child& child, int signal, double patience_s) const;
  [[nodiscard]] static bool has_ended(Child& child);

  const std::vector<std::string> first_words_;
  const Clock& clock_;
  std::list<Child> children_;
  std::int64_t latest_number_ = 0;
};

}  // namespace steptune::mcp
