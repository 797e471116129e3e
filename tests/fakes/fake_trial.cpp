// SPDX-License-Identifier: Apache-2.0
//
// A trial that misbehaves on demand:
//   ignore-term        ignores SIGTERM and SIGINT, forever
//   brood HOW          leaves descendants of every kind, all of which ignore SIGTERM: a child, a
//                      grandchild, one in its own session, a daemon, and a daemon without any
//                      environment; prints `pid N` for each; HOW: exit, crash or stay
//   marked-brood HOW   like brood, without the last kind
//   leave-group HOW    joins the group of its parent and leaves a child there that ignores SIGTERM;
//                      prints `pid N` for each; HOW: exit or stay
//   flood BYTES        prints one line of this length, without a line end
//   hog BYTES          slowly takes this much memory and keeps it
//   share BYTES COUNT  takes memory and forks COUNT processes that share it
#include <array>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr std::size_t k_step_bytes = std::size_t{8} << 20;

std::size_t to_number(const char* text) {
  std::size_t number = 0;
  std::from_chars(text, text + std::strlen(text), number);
  return number;
}

void say(const std::string& text) {
  const std::string line = text + "\n";
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) std::exit(1);
}

[[noreturn]] void stay() {
  while (true)
    ::pause();
}

[[noreturn]] void announce_and_stay() {
  std::signal(SIGTERM, SIG_IGN);
  say("pid " + std::to_string(::getpid()));
  stay();
}

void start_child() {
  if (::fork() == 0) {
    if (::fork() == 0) announce_and_stay();
    announce_and_stay();
  }
}

void start_session() {
  if (::fork() == 0) {
    ::setsid();
    announce_and_stay();
  }
}

void start_daemon(const char* self, bool with_environment) {
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::setsid();
    if (::fork() == 0) {
      if (with_environment) announce_and_stay();
      std::array<char, 8> mode{"daemon"};
      std::array<char*, 3> argv{const_cast<char*>(self), mode.data(), nullptr};
      std::array<char*, 1> nothing{nullptr};
      ::execve(self, argv.data(), nothing.data());
      std::_Exit(1);
    }
    std::_Exit(0);
  }
  ::waitpid(parent, nullptr, 0);
}

int brood(const char* self, bool bare_daemon, std::string_view how) {
  start_child();
  start_session();
  start_daemon(self, true);
  if (bare_daemon) start_daemon(self, false);
  // The test expects all `pid` lines before `ready`. The descendants need a moment to print their
  // lines.
  ::usleep(100'000);
  say("ready");
  if (how == "crash") std::abort();
  if (how == "stay") stay();
  return 0;
}

int leave_group(std::string_view how) {
  if (::setpgid(0, ::getpgid(::getppid())) != 0) return 1;
  if (::fork() == 0) announce_and_stay();
  say("pid " + std::to_string(::getpid()));
  ::usleep(100'000);
  say("ready");
  if (how == "stay") stay();
  return 0;
}

int flood(std::size_t bytes) {
  const std::vector<char> block(std::size_t{1} << 16, 'y');
  while (bytes > 0) {
    const ssize_t written = ::write(STDOUT_FILENO, block.data(), std::min(bytes, block.size()));
    if (written < 0) return 1;
    bytes -= static_cast<std::size_t>(written);
  }
  return 0;
}

std::vector<std::vector<char>> take(std::size_t bytes, useconds_t pause_us) {
  std::vector<std::vector<char>> blocks;
  for (std::size_t taken = 0; taken < bytes; taken += k_step_bytes) {
    blocks.emplace_back(k_step_bytes, 'x');
    ::usleep(pause_us);
  }
  return blocks;
}

[[noreturn]] void hog(std::size_t bytes) {
  const auto blocks = take(bytes, 5'000);
  say("full");
  stay();
}

[[noreturn]] void share(std::size_t bytes, std::size_t count) {
  const auto blocks = take(bytes, 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (::fork() == 0) stay();
  }
  say("full");
  stay();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  const char* first = argc > 2 ? argv[2] : "";
  if (mode == "ignore-term") {
    std::signal(SIGTERM, SIG_IGN);
    std::signal(SIGINT, SIG_IGN);
    say("ready");
    stay();
  }
  if (mode == "brood") return brood(argv[0], true, first);
  if (mode == "marked-brood") return brood(argv[0], false, first);
  if (mode == "leave-group") return leave_group(first);
  if (mode == "daemon") announce_and_stay();
  if (mode == "flood") return flood(to_number(first));
  if (mode == "hog") hog(to_number(first));
  if (mode == "share" && argc > 3) share(to_number(first), to_number(argv[3]));
  std::fprintf(stderr, "fake_trial: unknown mode\n");
  return 2;
}
