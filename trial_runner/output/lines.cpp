// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/output/lines.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "common/text.hpp"

namespace steptune {
namespace {

/// True unless the line is only a ruler (`-----`) or a report. While other processes continue,
/// their rulers and reports would push the failed process's output out of the tail.
bool has_content(std::string_view line) {
  const bool has_word = std::ranges::any_of(line, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || std::isalnum(byte) != 0;
  });
  return has_word && line.find("[steptune] {\"v\":") == std::string_view::npos;
}

/// Returns the text that torchrun appends after a process failed: torchrun's own traceback, and a
/// summary that does not contain the process's error. Empty if `text` has none.
std::string_view torchrun_epilogue(std::string_view text) {
  const std::size_t raised = text.rfind("elastic.multiprocessing.errors.ChildFailedError");
  if (raised == std::string_view::npos) return {};
  const std::size_t summary = text.rfind("failed (exitcode: ", raised);
  const std::size_t end = text.find('\n', summary == std::string_view::npos ? raised : summary);
  return end == std::string_view::npos ? std::string_view{} : text.substr(end);
}

/// True for each line of a traceback but the last one, which names the error. When a process fails,
/// the waiting processes print tracebacks, too; only their last lines are worth showing.
bool is_inside_traceback(std::string_view line) {
  return line.starts_with(' ') || line.starts_with("Traceback (most recent call last)");
}

}  // namespace

std::size_t LineSplitter::find_line_end(std::string_view bytes) {
  const void* newline = std::memchr(bytes.data(), '\n', bytes.size());
  const std::size_t end =
      newline == nullptr
          ? bytes.size()
          : static_cast<std::size_t>(static_cast<const char*>(newline) - bytes.data());
  const void* carriage = std::memchr(bytes.data(), '\r', end);
  return carriage == nullptr
             ? end
             : static_cast<std::size_t>(static_cast<const char*>(carriage) - bytes.data());
}

void OutputTail::feed(std::string_view bytes) {
  fed_ += bytes.size();
  if (bytes.size() >= k_bytes) {
    bytes_.assign(bytes.substr(bytes.size() - k_bytes));
    return;
  }
  if (bytes_.size() + bytes.size() > 2 * k_bytes) bytes_.erase(0, bytes_.size() - k_bytes);
  bytes_.append(bytes);
}

std::string_view OutputTail::text() const {
  const std::string_view all = bytes_;
  return all.substr(all.size() - std::min(all.size(), k_bytes));
}

void OutputTail::mark_progress(int process, double count) {
  Progress& progress = progress_[process];
  if (count > progress.count) progress.marks = {progress.marks[1], fed_};
  progress.count = count;
}

std::string_view OutputTail::since_progress() const {
  std::uint64_t from = progress_.empty() ? 0 : fed_;
  for (const auto& [process, progress] : progress_)
    from = std::min(from, progress.marks[0]);
  const std::string_view all = text();
  const std::uint64_t since = fed_ - from;
  return since < all.size() ? all.substr(all.size() - since) : all;
}

std::vector<std::string> OutputTail::last_lines(std::size_t count) const {
  std::vector<std::string> lines;
  std::string_view rest = text();
  const std::string_view epilogue = torchrun_epilogue(rest);
  rest.remove_suffix(epilogue.size());
  // A carriage return splits a line into parts. The last part overwrites the earlier ones, as in a
  // progress bar.
  bool is_overwritten = false;
  while (lines.size() < count && !rest.empty()) {
    const std::size_t end = rest.find_last_of("\n\r");
    const std::string_view line = end == std::string_view::npos ? rest : rest.substr(end + 1);
    std::string printable = printable_line(line);
    const bool is_left_out = !epilogue.empty() && is_inside_traceback(line);
    if (!is_overwritten && !is_left_out && has_content(printable)) {
      lines.push_back(std::move(printable));
      is_overwritten = true;
    }
    if (end == std::string_view::npos) break;
    if (rest[end] == '\n') is_overwritten = false;
    rest = rest.substr(0, end);
  }
  std::ranges::reverse(lines);
  return lines;
}

}  // namespace steptune
