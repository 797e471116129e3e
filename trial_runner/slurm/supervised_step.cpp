// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/supervised_step.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/child_process.hpp"
#include "common/pause.hpp"
#include "common/text.hpp"
#include "trial_runner/slurm/step_files.hpp"

namespace steptune::slurm {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::optional<pid_t> living_supervisor(const fs::path& folder) {
  const UniqueFd lock(::open((folder / k_lock_file).c_str(), O_RDONLY | O_CLOEXEC));
  if (!lock || ::flock(lock.get(), LOCK_SH | LOCK_NB) == 0) return std::nullopt;
  // If the file system has no locks, ignore the file: the supervisor may have ended, and another
  // process may have its number.
  if (errno != EWOULDBLOCK) return std::nullopt;
  std::array<char, 32> text{};
  const ssize_t got = ::read(lock.get(), text.data(), text.size());
  pid_t pid = 0;
  if (got > 0) std::from_chars(text.data(), text.data() + got, pid);
  return pid > 1 ? std::optional(pid) : std::nullopt;
}

void SupervisedStep::reap() {
  if (child_ && ::waitpid(*child_, nullptr, WNOHANG) != 0) child_.reset();
}

bool SupervisedStep::supervisor_is_gone() {
  if (!child_) return !living_supervisor(folder_);
  reap();
  return !child_;
}

bool SupervisedStep::has_ended() {
  if (end_) return true;
  // Check the supervisor before the file: after the supervisor has ended, the file does not change
  // any more.
  const bool gone = supervisor_is_gone();
  if (child_) return false;
  std::ifstream file(folder_ / k_status_file);
  std::string line;
  if (!std::getline(file, line)) {
    if (!gone) return false;
    end_ = StepEnd{{}, "its supervisor process was killed"};
    return true;
  }
  StepEnd end;
  std::istringstream words(line);
  std::string how;
  int number = 0;
  if (words >> how >> number && how == "exit") end.status = number;
  if (std::string time; words >> time) end.time_s = parse_finite(time);
  if (std::getline(file, line) && line.starts_with("fault ")) {
    end.fault = "its output could not be kept: " + line.substr(6);
  }
  end_ = std::move(end);
  return true;
}

std::optional<int> SupervisedStep::first_segment_from(int number) const {
  std::optional<int> first;
  std::error_code error;
  const std::string_view prefix = k_output_file;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    int found = 0;
    if (!name.starts_with(prefix)) continue;
    const char* last = name.data() + name.size();
    const auto [rest, fault] = std::from_chars(name.data() + prefix.size(), last, found);
    if (fault != std::errc{} || rest != last || found < number) continue;
    first = std::min(first.value_or(found), found);
  }
  return first;
}

bool SupervisedStep::read_more() {
  if (!file_) {
    // The supervisor may have removed segments while no tuner read them.
    const auto first = first_segment_from(segment_);
    if (!first) return false;
    segment_ = *first;
    const auto path = folder_ / (k_output_file + std::to_string(segment_));
    file_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file_) return false;
  }
  std::array<char, 65'536> block;
  const auto read_block = [&] {
    const ssize_t got = ::read(file_.get(), block.data(), block.size());
    if (got <= 0) return false;
    pending_.append(block.data(), static_cast<std::size_t>(got));
    segment_read_bytes_ += got;
    return true;
  };
  if (read_block()) return true;
  // The supervisor still writes to this segment.
  if (segment_read_bytes_ < k_segment_bytes) return false;
  const auto next = first_segment_from(segment_ + 1);
  if (!next) return false;
  // The next segment exists, so this one is complete. Read its rest first.
  if (read_block()) return true;
  file_.reset();
  pending_.clear();
  segment_read_bytes_ = 0;
  segment_ = *next;
  return true;
}

void SupervisedStep::take_records(std::vector<OutputChunk>& chunks) {
  std::size_t at = 0;
  while (true) {
    const std::size_t line_end = pending_.find('\n', at);
    if (line_end == std::string::npos) break;
    const std::string_view head(pending_.data() + at, line_end - at);
    const std::size_t blank = std::min(head.find(' '), head.size());
    const auto time_s = parse_finite(head.substr(0, blank));
    const auto length = parse_finite(head.substr(std::min(blank + 1, head.size())));
    if (!time_s || !length || *length < 0.0) {
      at = line_end + 1;  // skip a line that no supervisor has written
      continue;
    }
    const auto bytes = static_cast<std::size_t>(*length);
    if (pending_.size() - line_end - 1 < bytes) break;
    chunks.push_back({std::min(*time_s, clock_.now_s()), pending_.substr(line_end + 1, bytes)});
    at = line_end + 1 + bytes;
  }
  pending_.erase(0, at);
}

bool SupervisedStep::is_due() {
  const double now_s = clock_.now_s();
  // If the supervisor is a child of this process, its end is visible without reading files.
  if (now_s < next_poll_s_ && (!child_ || !supervisor_is_gone())) return false;
  // The gap doubles while the step is silent.
  gap_s_ = std::clamp(2.0 * gap_s_, k_child_poll_s, k_poll_s);
  next_poll_s_ = now_s + gap_s_;
  return true;
}

std::vector<OutputChunk> SupervisedStep::read() {
  std::vector<OutputChunk> chunks;
  if (!is_due()) return chunks;
  const bool ended = has_ended();
  // Read at most a segment, so that a step with much output does not delay other steps.
  long long rounds = k_segment_bytes / 65'536;
  bool more = true;
  while (more && rounds-- > 0) {
    more = read_more();
    take_records(chunks);
  }
  if (ended && !more) drained_ = true;
  if (!chunks.empty() || ended) {
    gap_s_ = 0.0;
    next_poll_s_ = 0.0;
  }
  return chunks;
}

std::optional<StepEnd> SupervisedStep::end() {
  return drained_ ? end_ : std::nullopt;
}

void SupervisedStep::kill() {
  if (end_) return;
  const auto supervisor = child_ ? child_ : living_supervisor(folder_);
  if (supervisor) ::kill(*supervisor, SIGTERM);
}

void SupervisedStep::forget() {
  reap();
  file_.reset();
  std::error_code error;
  fs::remove_all(folder_, error);
}

}  // namespace steptune::slurm
