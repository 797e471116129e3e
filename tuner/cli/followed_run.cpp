// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/followed_run.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/child_process.hpp"
#include "common/environment.hpp"
#include "common/exit_status.hpp"
#include "common/pause.hpp"
#include "common/pipe.hpp"
#include "common/system_reason.hpp"
#include "trial_runner/trial_name.hpp"
#include "tuner/cli/child_command.hpp"
#include "tuner/cli/console.hpp"

namespace steptune {
namespace {

/// Returns the name of the program that compressed a file, by the file's first bytes. If the file
/// is not compressed, returns an empty text.
std::string packer_of(int fd) {
  constexpr std::array<std::pair<std::string_view, const char*>, 4> k_packers{{
      {"\x1f\x8b", "gzip"},
      {"\x28\xb5\x2f\xfd", "zstd"},
      {"\xfd"
       "7zXZ",
       "xz"},
      {"BZh", "bzip2"},
  }};
  std::array<char, 8> bytes{};
  const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), 0);
  if (got <= 0) return {};
  const std::string_view begin(bytes.data(), static_cast<std::size_t>(got));
  for (const auto& [magic, name] : k_packers) {
    if (begin.starts_with(magic)) return name;
  }
  return {};
}

/// Adds the variables that make reporters print.
std::map<std::string, std::string> with_reports(std::map<std::string, std::string> variables) {
  variables[std::string(k_trial_variable)] = "follow";
  if (!process_environment()("PYTHONUNBUFFERED")) variables.emplace("PYTHONUNBUFFERED", "1");
  return variables;
}

/// True if the command should join the terminal's foreground group, because only that group may
/// read answers typed at the terminal. False if this program ignores SIGHUP: then the command
/// should survive the terminal's end.
bool is_in_foreground() {
  struct sigaction hang_up {};
  ::sigaction(SIGHUP, nullptr, &hang_up);
  return ::tcgetpgrp(STDIN_FILENO) == ::getpgrp() && hang_up.sa_handler != SIG_IGN;
}

/// Starts the command in the terminal's foreground group or in a new process group. Signals reach a
/// new group only through this program.
tl::expected<pid_t, int> start(const std::vector<std::string>& argv,
                               const std::map<std::string, std::string>& variables, int out_fd,
                               int err_fd) {
  ChildRequest request;
  request.argv = argv;
  request.environment = child_environment(argv, with_reports(variables));
  request.in = k_own_stream;
  request.scope = is_in_foreground() ? ChildScope::same_group : ChildScope::own_group;
  request.out = out_fd;
  request.err = err_fd;
  request.keeps_descriptors = true;
  return start_child(request);
}

}  // namespace

Result<FollowedRun> FollowedRun::log(const std::string& path, bool wait) {
  // Do not block on a named pipe without a writer: later waits can be interrupted by signals.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) {
    return fail(ErrorKind::not_found, "cannot be read: " + system_reason(errno), path,
                "write a command after --: steptune follow STUDY -- COMMAND");
  }
  return reading(std::move(fd), wait, path);
}

Result<FollowedRun> FollowedRun::standard_input() {
  UniqueFd fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!fd) {
    return fail(ErrorKind::usage, "stdin cannot be read: " + system_reason(errno), "",
                "name a log, or a command after --");
  }
  return reading(std::move(fd), /*wait=*/false, "stdin");
}

Result<FollowedRun> FollowedRun::reading(UniqueFd fd, bool wait, const std::string& path) {
  struct stat status {};
  const bool is_known = ::fstat(fd.get(), &status) == 0;
  if (is_known && S_ISDIR(status.st_mode)) {
    return fail(ErrorKind::usage, "cannot be read: " + system_reason(EISDIR), path,
                "name the log in it");
  }
  const bool is_file = is_known && S_ISREG(status.st_mode);
  if (const std::string packer = is_file ? packer_of(fd.get()) : ""; !packer.empty()) {
    return fail(ErrorKind::usage, fmt::format("is compressed ({})", packer), path,
                fmt::format("unpack it: {} -dc FILE | steptune follow STUDY -", packer));
  }
  FollowedRun run;
  run.path_ = path;
  run.streams_.push_back({std::move(fd), -1, {}});
  // Lines that are already in a file (`< train.log`) are old. Lines from a pipe are new.
  run.is_file_ = is_file;
  run.is_live_ = !run.is_file_;
  run.waits_ = wait;
  return run;
}

Result<FollowedRun> FollowedRun::command(const std::vector<std::string>& argv,
                                         const std::map<std::string, std::string>& variables,
                                         int out_fd) {
  auto out = make_pipe();
  if (!out) return tl::unexpected(out.error());
  auto err = make_pipe();
  if (!err) return tl::unexpected(err.error());
  FollowedRun run;
  run.relay_ = std::make_unique<SignalRelay>();
  const auto pid = start(argv, variables, out->write.get(), err->write.get());
  if (!pid) {
    return fail(ErrorKind::runner,
                fmt::format("cannot start \"{}\": {}", argv.front(), system_reason(pid.error())),
                "", pid.error() == ENOENT ? missing_program_hint(argv.front()) : "");
  }
  run.pid_ = *pid;
  run.relay_->pass_to(is_in_foreground() ? *pid : -*pid);
  run.streams_.push_back({std::move(out->read), out_fd, {}});
  run.streams_.push_back({std::move(err->read), STDERR_FILENO, {}});
  return run;
}

bool FollowedRun::read(double timeout_s, const OnLine& on_line,
                       const std::function<void()>& before) {
  std::vector<pollfd> waiting;
  for (const Stream& stream : streams_)
    waiting.push_back({stream.fd.get(), POLLIN, 0});
  if (waiting.empty()) return false;
  const int ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(1e3 * timeout_s));
  if (ready == 0 && has_ended(WNOHANG)) {
    for (Stream& stream : streams_)
      stream.lines.flush([&](std::string_view line) { on_line(line, is_live_); });
    streams_.clear();
    return false;
  }
  if (ready <= 0) return true;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i].revents != 0) take(streams_[i], on_line, before);
  }
  std::erase_if(streams_, [](const Stream& stream) { return !stream.fd; });
  return !streams_.empty();
}

void FollowedRun::take(Stream& stream, const OnLine& on_line, const std::function<void()>& before) {
  std::array<char, 64 * 1024> buffer;
  const ssize_t got = ::read(stream.fd.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  const auto on_text = [&](std::string_view line) { on_line(line, is_live_); };
  if (got <= 0) {
    if (is_file_ && waits_ && got == 0) {
      // All existing content was read, so the following lines are new.
      is_live_ = true;
      look_for_more(stream, on_text);
      pause_thread(k_poll_s);
      return;
    }
    stream.lines.flush(on_text);
    stream.fd.reset();
    return;
  }
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
  if (stream.pass_to >= 0) {
    before();
    // Ignore that the reader of the output has gone: the run continues, and this program still
    // follows it.
    static_cast<void>(write_all(stream.pass_to, bytes));
  }
  stream.lines.feed(bytes, on_text);
}

void FollowedRun::look_for_more(Stream& stream,
                                const std::function<void(std::string_view)>& on_text) {
  struct stat opened {};
  if (::fstat(stream.fd.get(), &opened) != 0) return;
  if (opened.st_size < ::lseek(stream.fd.get(), 0, SEEK_CUR)) {
    ::lseek(stream.fd.get(), 0, SEEK_SET);
    stream.lines = LineSplitter();
    return;
  }
  // While the new file is empty, the program may still write to the old file.
  struct stat named {};
  const bool is_another = ::stat(path_.c_str(), &named) == 0 && S_ISREG(named.st_mode) &&
                          named.st_size > 0 &&
                          (named.st_dev != opened.st_dev || named.st_ino != opened.st_ino);
  if (!is_another) return;
  UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return;
  stream.lines.flush(on_text);
  stream.fd = std::move(fd);
}

bool FollowedRun::has_ended(int wait_options) {
  int status = 0;
  pid_t ended = 0;
  do {
    ended = pid_ > 0 ? ::waitpid(pid_, &status, wait_options) : 0;
  } while (ended == -1 && errno == EINTR);
  if (ended > 0) {
    status_ = status;
    pid_ = 0;
    relay_->pass_to(0);
  }
  return status_.has_value();
}

std::optional<int> FollowedRun::exit_status() {
  if (!has_ended(0)) return std::nullopt;
  return shell_status(*status_);
}

}  // namespace steptune
