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

/// The output of a long run. It comes from a log file, from stdin, or from a command. This program
/// starts such a command and passes its output on.
class FollowedRun {
 public:
  /// `is_live` is true if the line is printed now, false if it was written earlier.
  using OnLine = std::function<void(std::string_view line, bool is_live)>;

  /// Opens a log. If `wait`, waits at the end of the file for more text, like `tail -F`. If a new
  /// file with the same name appears, reads the new file once it has content. A named pipe is read
  /// like stdin. Returns `usage` for a compressed file.
  [[nodiscard]] static Result<FollowedRun> log(const std::string& path, bool wait);
  [[nodiscard]] static Result<FollowedRun> standard_input();
  /// Starts a command in this process's folder and environment, with `variables` added. Sets
  /// STEPTUNE_TRIAL, so that reporters print, and PYTHONUNBUFFERED. The command joins the
  /// terminal's foreground group if this program is in it; otherwise it gets a new process group.
  /// Signals are passed on to the command (`SignalRelay`) while it runs. The command's stdout is
  /// passed on to `out_fd`.
  [[nodiscard]] static Result<FollowedRun> command(
      const std::vector<std::string>& argv, const std::map<std::string, std::string>& variables,
      int out_fd);

  /// Reads the available output, waiting up to `timeout_s`. Returns false at the end of the output.
  /// Also returns false if nothing arrived in that time and the command has ended. Processes that
  /// the command started may keep the output open. Calls `before` before it passes output on to the
  /// terminal. An interrupted wait returns early.
  [[nodiscard]] bool read(double timeout_s, const OnLine& on_line,
                          const std::function<void()>& before);

  /// Returns the command's process while it runs; nullopt for logs.
  [[nodiscard]] std::optional<pid_t> process() const {
    return pid_ > 0 ? std::optional(pid_) : std::nullopt;
  }
  /// True for a file whose end is watched for more text.
  [[nodiscard]] bool grows() const { return is_file_ && waits_; }
  /// Waits for the command. Returns its exit status, or 128 + the signal that ended it; nullopt for
  /// logs.
  [[nodiscard]] std::optional<int> exit_status();

 private:
  struct Stream {
    UniqueFd fd;
    int pass_to = -1;
    LineSplitter lines;
  };
  /// `path` is used in messages.
  [[nodiscard]] static Result<FollowedRun> reading(UniqueFd fd, bool wait, const std::string& path);
  /// Looks for more text at the end of a file. Starts again if the file was truncated, as by a new
  /// run. If another file now has the name, as after log rotation, reads that file.
  void look_for_more(Stream& stream, const std::function<void(std::string_view)>& on_text);
  void take(Stream& stream, const OnLine& on_line, const std::function<void()>& before);
  /// True if the command has ended. `wait_options` is passed to waitpid; 0 waits for the end.
  [[nodiscard]] bool has_ended(int wait_options);

  std::vector<Stream> streams_;
  bool is_file_ = false;
  bool waits_ = false;
  bool is_live_ = true;
  std::string path_;                    ///< path of the log
  std::unique_ptr<SignalRelay> relay_;  ///< passes signals to a command
  pid_t pid_ = 0;                       ///< process of the command while it runs
  std::optional<int> status_;           ///< status of the ended command, from waitpid
};

}  // namespace steptune
