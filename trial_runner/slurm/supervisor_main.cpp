// SPDX-License-Identifier: Apache-2.0
//
// steptune-slurm-supervisor FOLDER LEASE KEEP_S srun ARGUMENT...: runs srun. Stores its output and
// its end in FOLDER (step_files.hpp), so that a trial survives the tuner that started it. After
// srun's end it sets the allocation's lease (file LEASE) to end KEEP_S seconds later, unless a
// tuner changes it. SIGTERM ends srun, and with it the step.
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/exit_status.hpp"
#include "common/pause.hpp"
#include "common/system_reason.hpp"
#include "common/unique_fd.hpp"
#include "trial_runner/slurm/step_files.hpp"

namespace {

namespace fs = std::filesystem;
using steptune::UniqueFd;

volatile std::sig_atomic_t srun_pid = 0;

/// Blocks (SIG_BLOCK) or unblocks SIGTERM. SIGTERM is blocked while srun does not exist, because
/// the handler has no process to pass it to.
void mask_termination(int how) {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGTERM);
  ::sigprocmask(how, &signals, nullptr);
}

extern "C" void end_srun(int /*signal*/) {
  if (srun_pid > 0) ::kill(srun_pid, SIGTERM);
}

double clock_s(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Replaces a file atomically, so that a reader never sees an incomplete file.
bool replace(const fs::path& file, std::string_view text) {
  // The tuner may write the same file, so each program uses its own temporary name.
  const fs::path fresh = file.string() + ".new" + std::to_string(::getpid());
  {
    const UniqueFd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!fd || !write_all(fd.get(), text)) return false;
  }
  return ::rename(fresh.c_str(), file.c_str()) == 0;
}

/// File with srun's end. Its disk space is reserved first, because output may fill the disk.
class StatusFile {
 public:
  explicit StatusFile(const fs::path& file)
      : file_(file), fresh_(file.string() + ".new" + std::to_string(::getpid())) {
    fd_ = UniqueFd(::open(fresh_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    // Reserve more than a status needs. If the file system cannot, continue without it.
    if (fd_) (void)::posix_fallocate(fd_.get(), 0, 512);
  }
  [[nodiscard]] bool write(std::string_view text) {
    if (!fd_) return replace(file_, text);
    return write_all(fd_.get(), text) &&
           ::ftruncate(fd_.get(), static_cast<off_t>(text.size())) == 0 &&
           ::rename(fresh_.c_str(), file_.c_str()) == 0;
  }

 private:
  fs::path file_;
  fs::path fresh_;
  UniqueFd fd_;
};

class Output {
 public:
  explicit Output(fs::path folder) : folder_(std::move(folder)) {}

  void write(std::string_view bytes) {
    if (!fault_.empty()) return;
    if (!file_ || size_ >= steptune::slurm::k_segment_bytes) next_segment();
    std::array<char, 64> head{};
    const int length = std::snprintf(head.data(), head.size(), "%.6f %zu\n",
                                     clock_s(CLOCK_BOOTTIME), bytes.size());
    std::string record(head.data(), static_cast<std::size_t>(length));
    record.append(bytes);
    if (!file_ || !write_all(file_.get(), record)) {
      fault_ = steptune::system_reason(errno);
      return;
    }
    size_ += static_cast<long long>(record.size());
  }
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  void next_segment() {
    file_.reset();
    const auto path = [this](int number) {
      return folder_ / (steptune::slurm::k_output_file + std::to_string(number));
    };
    std::error_code error;
    // Keep the first segment, because it contains the start marks of the tasks.
    if (number_ >= 3) fs::remove(path(number_ - 2), error);
    file_ = UniqueFd(::open(path(number_).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    ++number_;
    size_ = 0;
  }

  fs::path folder_;
  UniqueFd file_;
  int number_ = 0;
  long long size_ = 0;
  std::string fault_;
};

[[noreturn]] void become(char** argv, int output_fd, pid_t supervisor) {
  // srun must not outlive its supervisor, which records its end.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != supervisor) ::_exit(127);
  for (const int signal : {SIGINT, SIGHUP, SIGPIPE, SIGTERM})
    ::signal(signal, SIG_DFL);
  mask_termination(SIG_UNBLOCK);
  const int null_fd = ::open("/dev/null", O_RDONLY);
  ::dup2(null_fd, STDIN_FILENO);
  ::dup2(output_fd, STDOUT_FILENO);
  ::dup2(output_fd, STDERR_FILENO);
  ::execvp(argv[0], argv);
  const std::string why = std::string(argv[0]) + ": " + steptune::system_reason(errno) + "\n";
  write_all(STDERR_FILENO, why);
  ::_exit(steptune::k_not_found_status);
}

/// Copies output until the end of the stream, or until srun has ended and its output has been read.
/// Does not wait longer, because other processes may have inherited srun's output.
std::optional<int> copy_output(int fd, pid_t srun, Output& output) {
  std::array<char, 65'536> block;
  std::optional<int> status;
  while (true) {
    pollfd descriptor{fd, POLLIN, 0};
    const int ready = ::poll(&descriptor, 1, static_cast<int>(1e3 * steptune::k_poll_s));
    if (ready > 0) {
      const ssize_t got = ::read(fd, block.data(), block.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      output.write({block.data(), static_cast<std::size_t>(got)});
    } else if (ready == 0 && status) {
      break;
    }
    int raw = 0;
    if (!status && ::waitpid(srun, &raw, WNOHANG) == srun) status = raw;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    constexpr std::string_view k_usage =
        "steptune-slurm-supervisor is started by steptune; it is of no use by itself\n";
    return write_all(STDERR_FILENO, k_usage) ? 2 : 3;
  }
  const fs::path folder = argv[1];
  const fs::path lease = argv[2];
  long keep_s = 0;
  std::from_chars(argv[3], argv[3] + std::strlen(argv[3]), keep_s);
  for (const int signal : {SIGINT, SIGHUP, SIGPIPE})
    ::signal(signal, SIG_IGN);
  mask_termination(SIG_BLOCK);
  struct sigaction on_term {};
  on_term.sa_handler = end_srun;
  ::sigaction(SIGTERM, &on_term, nullptr);

  const UniqueFd lock(
      ::open((folder / steptune::slurm::k_lock_file).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return 1;
  // If the file system has no locks, run the step anyway. A later tuner then cannot find out if the
  // step still runs.
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return 1;
  if (!write_all(lock.get(), std::to_string(::getpid()))) return 1;

  StatusFile status_file(folder / steptune::slurm::k_status_file);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return 1;
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t self = ::getpid();
  const pid_t srun = ::fork();
  if (srun < 0) return 1;
  if (srun == 0) become(argv + 4, theirs.get(), self);
  srun_pid = srun;
  mask_termination(SIG_UNBLOCK);
  theirs.reset();

  Output output(folder);
  std::optional<int> status = copy_output(ours.get(), srun, output);
  int raw = 0;
  while (!status) {
    const pid_t ended = ::waitpid(srun, &raw, 0);
    if (ended == srun || (ended < 0 && errno != EINTR)) status = raw;
  }
  const double ended_s = clock_s(CLOCK_BOOTTIME);
  srun_pid = 0;
  std::error_code error;
  if (fs::exists(lease, error)) {
    replace(lease, std::to_string(static_cast<long>(clock_s(CLOCK_REALTIME)) + keep_s) + "\n");
  }
  std::string text = WIFEXITED(*status) ? "exit " + std::to_string(WEXITSTATUS(*status))
                                        : "signal " + std::to_string(WTERMSIG(*status));
  text += " " + std::to_string(ended_s) + "\n";
  if (!output.fault().empty()) text += "fault " + output.fault() + "\n";
  return status_file.write(text) ? 0 : 1;
}
