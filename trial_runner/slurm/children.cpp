// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/children.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace steptune::slurm {
namespace {

constexpr off_t k_most_output_bytes = off_t{64} << 20;

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  // exec's interface lacks a const that it keeps all the same.
  for (const std::string& text : texts)
    pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<pid_t> start_child(const std::vector<std::string>& argv,
                          const std::vector<std::string>& environment, const Streams& streams) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  const auto connect = [&actions](int from, int to, int mode) {
    if (from >= 0) {
      ::posix_spawn_file_actions_adddup2(&actions, from, to);
    } else {
      ::posix_spawn_file_actions_addopen(&actions, to, "/dev/null", mode, 0);
    }
  };
  connect(streams.in, STDIN_FILENO, O_RDONLY);
  connect(streams.out, STDOUT_FILENO, O_WRONLY);
  connect(streams.err, STDERR_FILENO, O_WRONLY);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  const auto words = pointers_to(argv);
  const auto variables = pointers_to(environment);
  pid_t pid = -1;
  const int error =
      ::posix_spawnp(&pid, words.front(), &actions, &attributes, words.data(), variables.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return pid;
  return fail(error == EAGAIN || error == ENOMEM ? ErrorKind::unavailable : ErrorKind::runner,
              fmt::format("cannot start: {}", std::generic_category().message(error)),
              argv.front());
}

UniqueFd memory_file(const std::string& text) {
  // Above the standard streams, which a child gets in their places.
  const UniqueFd low(::memfd_create("steptune", MFD_CLOEXEC));
  UniqueFd file(::fcntl(low.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  std::size_t done = 0;
  while (file && done < text.size()) {
    const ssize_t written = ::write(file.get(), text.data() + done, text.size() - done);
    if (written <= 0) return {};
    done += static_cast<std::size_t>(written);
  }
  if (file) ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::string text_of(const UniqueFd& memory_file) {
  struct stat status {};
  if (!memory_file || ::fstat(memory_file.get(), &status) != 0) return {};
  std::string text(static_cast<std::size_t>(std::min(status.st_size, k_most_output_bytes)), '\0');
  const ssize_t got = ::pread(memory_file.get(), text.data(), text.size(), 0);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

}  // namespace steptune::slurm
