// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// Splits a byte stream into lines. A newline or a carriage return ends a line (progress bars
/// redraw with carriage returns). Leaves out empty lines. Cuts lines at 64 KiB and drops the rest,
/// so memory is bounded.
class LineSplitter {
 public:
  static constexpr std::size_t k_max_line_bytes = std::size_t{64} << 10;

  /// Calls `on_line(std::string_view)` for each line that `bytes` completes. The view is valid only
  /// during the call.
  template <typename OnLine>
  void feed(std::string_view bytes, OnLine&& on_line) {
    while (!bytes.empty()) {
      const std::size_t end = find_line_end(bytes);
      const bool complete = end < bytes.size();
      const std::string_view part = bytes.substr(0, end);
      if (complete && pending_.empty()) {
        if (!part.empty()) on_line(part.substr(0, k_max_line_bytes));
      } else {
        pending_.append(part.substr(0, k_max_line_bytes - pending_.size()));
        if (complete) flush(on_line);
      }
      bytes.remove_prefix(complete ? end + 1 : end);
    }
  }

  /// Passes on the last line if it has no line end. Call this at the end of the stream.
  template <typename OnLine>
  void flush(OnLine&& on_line) {
    if (!pending_.empty()) on_line(std::string_view(pending_));
    pending_.clear();
  }

 private:
  static std::size_t find_line_end(std::string_view bytes);
  std::string pending_;
};

/// Splits a byte stream into lines, each with the time at which it came.
class TimedLines {
 public:
  /// Calls `on_line(std::string_view, double)` for each complete line. `time_s` is the time at
  /// which `bytes` came.
  template <typename OnLine>
  void feed(std::string_view bytes, double time_s, OnLine&& on_line) {
    // A progress bar begins each drawing with a line end. So the previous drawing was complete when
    // it came.
    if (bytes.starts_with('\r') || bytes.starts_with('\n')) flush(on_line);
    came_s_ = time_s;
    lines_.feed(bytes, [&](std::string_view line) { on_line(line, came_s_); });
  }

  /// Passes on the last line if it has no line end. Call this at the end of the stream.
  template <typename OnLine>
  void flush(OnLine&& on_line) {
    lines_.flush([&](std::string_view line) { on_line(line, came_s_); });
  }

 private:
  LineSplitter lines_;
  double came_s_ = 0.0;  ///< of the latest bytes
};

/// Stores the last bytes of a stream.
class OutputTail {
 public:
  static constexpr std::size_t k_bytes = std::size_t{32} << 10;

  void feed(std::string_view bytes);
  [[nodiscard]] std::string_view text() const;
  /// Records that the process with this rank has reported `count` after all bytes fed so far. Only
  /// an increased count is progress: several processes without a rank print the same counts.
  void mark_progress(int process, double count);
  /// Returns the end of `text` that may explain the program's end. Leaves out output after which
  /// every reporting process has made progress.
  [[nodiscard]] std::string_view since_progress() const;
  /// Returns the last lines as printable text, oldest first, at most `count`. Leaves out lines
  /// without letters or digits, and reports of the protocol. If carriage returns rewrite a line
  /// (progress bars), returns its last version. If torchrun reports a failed process, returns the
  /// lines before that report, and only the last line of each traceback.
  [[nodiscard]] std::vector<std::string> last_lines(std::size_t count) const;

 private:
  std::string bytes_;  // up to twice k_bytes, so that trimming is rare
  std::uint64_t fed_ = 0;
  struct Progress {
    double count = -1.0;
    /// Positions of the last two increases. Two, because another process's output may come between
    /// a report and the call of `mark_progress`.
    std::array<std::uint64_t, 2> marks{};
  };
  std::map<int, Progress> progress_;  // by process
};

}  // namespace steptune
