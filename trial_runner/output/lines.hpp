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

/// Cuts a byte stream into lines. Newlines and carriage returns end a line (progress bars redraw
/// with the latter); empty lines are left out. A line is cut at 64 KiB and the rest of it dropped,
/// so memory is bounded whatever arrives.
class LineSplitter {
 public:
  static constexpr std::size_t k_max_line_bytes = std::size_t{64} << 10;

  /// Calls `on_line(std::string_view)` for each line that `bytes` completes. The view is valid
  /// during the call only.
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

  /// At the end of the stream: what stands there without a line end.
  template <typename OnLine>
  void flush(OnLine&& on_line) {
    if (!pending_.empty()) on_line(std::string_view(pending_));
    pending_.clear();
  }

 private:
  static std::size_t find_line_end(std::string_view bytes);
  std::string pending_;
};

/// Keeps the last bytes of a stream.
class OutputTail {
 public:
  static constexpr std::size_t k_bytes = std::size_t{32} << 10;

  void feed(std::string_view bytes);
  [[nodiscard]] std::string_view text() const;
  /// One of the program's processes tells how far it has got, after all that was fed. Only a count
  /// that has grown is progress: processes that do not say who they are print the same ones.
  void mark_progress(int process, double count);
  /// Of `text`, what may tell of the program's end: what each process went on after is left out.
  [[nodiscard]] std::string_view since_progress() const;
  /// The last lines as printable text, oldest first; at most `count` of them. Without those that
  /// hold no letter or digit, and without reports by the protocol; of one that was written anew
  /// behind carriage returns, as progress bars are, what it was last. Where torchrun tells that a
  /// process failed, what came before, with the last line of each traceback alone.
  [[nodiscard]] std::vector<std::string> last_lines(std::size_t count) const;

 private:
  std::string bytes_;  // up to twice k_bytes, so that trimming is rare
  std::uint64_t fed_ = 0;
  struct Progress {
    double count = -1.0;
    /// The last two: one may be overtaken by another's words.
    std::array<std::uint64_t, 2> marks{};
  };
  std::map<int, Progress> progress_;  // by process
};

}  // namespace steptune
