// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/unique_fd.hpp"
#include "trial_runner/output/lines.hpp"
#include "tuner/cli/signals.hpp"

namespace steptune {

/// The output of a long run, from where it comes: a log file, stdin, or a command that this program
/// starts and whose output it passes on.
class FollowedRun {
 public:
  /// `is_live`: the line is printed now; else it was written some time ago.
  using OnLine = std::function<void(std::string_view line, bool is_live)>;

  /// `wait`: go on at the end of the file, as `tail -F` does: also in another file that has taken
  /// its name, once that holds something. A named pipe is read as stdin is. `usage` for a
  /// compressed file.
  [[nodiscard]] static Result<FollowedRun> log(const std::string& path, bool wait);
  [[nodiscard]] static Result<FollowedRun> standard_input();
  /// Started at once, in this folder and environment, with STEPTUNE_TRIAL set so that reporters
  /// print, and PYTHONUNBUFFERED. It belongs to the foreground of a terminal on stdin where this
  /// program does, else to a process group of its own; signals are passed on to it
  /// (`SignalRelay`) as long as it runs. `variables` are set, too; what it prints on stdout is
  /// passed on to `out_fd`.
  [[nodiscard]] static Result<FollowedRun> command(
      const std::vector<std::string>& argv, const std::map<std::string, std::string>& variables,
      int out_fd);

  /// Reads what there is, waiting for it up to `timeout_s`; false once there is no more: at the end
  /// of the output, or when nothing has come in that time and the command has ended, as what it
  /// leaves behind may hold its output open. `before` is called before output is passed on to the
  /// terminal. An interrupted wait returns early.
  [[nodiscard]] bool read(double timeout_s, const OnLine& on_line,
                          const std::function<void()>& before);

  /// The command's process while it runs; nothing for logs.
  [[nodiscard]] std::optional<pid_t> process() const {
    return pid_ > 0 ? std::optional(pid_) : std::nullopt;
  }
  /// Whether this is a file that is waited for at its end.
  [[nodiscard]] bool grows() const { return is_file_ && waits_; }
  /// The command's exit status, 128 + signal where one ended it; waits for it. Nothing for logs.
  [[nodiscard]] std::optional<int> exit_status();

 private:
  struct Stream {
    UniqueFd fd;
    int pass_to = -1;
    LineSplitter lines;
  };
  /// `path`: for messages.
  [[nodiscard]] static Result<FollowedRun> reading(UniqueFd fd, bool wait, const std::string& path);
  /// At the end of a file that may grow: one that was emptied under its reader, as by a run that
  /// begins anew, and one whose name another has now, as logs are rotated.
  void look_for_more(Stream& stream, const std::function<void(std::string_view)>& told);
  void take(Stream& stream, const OnLine& on_line, const std::function<void()>& before);
  /// Whether this is a command that has ended. `wait_options`: waitpid's; 0 waits for that.
  [[nodiscard]] bool has_ended(int wait_options);

  std::vector<Stream> streams_;
  bool is_file_ = false;
  bool waits_ = false;
  bool is_live_ = true;
  std::string path_;                    ///< of the log
  std::unique_ptr<SignalRelay> relay_;  ///< of a command
  pid_t pid_ = 0;                       ///< of the command while it runs
  std::optional<int> status_;           ///< how it ended, as waitpid tells
};

}  // namespace steptune
