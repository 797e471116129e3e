// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/held_files.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/compile.h>
#include <fmt/format.h>

namespace steptune::local {
namespace {

/// `flags:	0100002` of /proc/PID/fdinfo/FD: octal, as for open(2).
bool is_open_for_writing(const std::string& fdinfo) {
  constexpr std::string_view k_flags = "flags:";
  const std::size_t at = fdinfo.find(k_flags);
  if (at == std::string::npos) return false;
  const std::size_t begin = fdinfo.find_first_not_of(" \t", at + k_flags.size());
  if (begin == std::string::npos) return false;
  int flags = 0;
  std::from_chars(fdinfo.data() + begin, fdinfo.data() + fdinfo.size(), flags, 8);
  return (flags & O_ACCMODE) != O_RDONLY;
}

void add_mapped(const SystemFiles& files, pid_t pid, std::vector<HeldFile>& held) {
  std::istringstream lines(files.text(fmt::format(FMT_COMPILE("proc/{}/maps"), pid)).value_or(""));
  std::string range;
  std::string permissions;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t path = line.find('/');
    if (path == std::string::npos) continue;
    std::istringstream words(line);
    words >> range >> permissions;
    const bool writes = permissions.find('w') != std::string::npos && permissions.ends_with('s');
    held.push_back({line.substr(path), writes});
  }
}

void add_open(const SystemFiles& files, pid_t pid,
              const std::map<std::string, std::string>& sockets, std::vector<HeldFile>& held) {
  constexpr std::string_view k_socket = "socket:[";
  const std::string folder = fmt::format(FMT_COMPILE("proc/{}"), pid);
  for (const std::string& fd : files.names(folder + "/fd")) {
    std::error_code fault;
    const std::string target =
        std::filesystem::read_symlink(files.root / folder / "fd" / fd, fault).string();
    if (fault) continue;
    if (target.starts_with('/')) {
      const auto info = files.text(fmt::format(FMT_COMPILE("{}/fdinfo/{}"), folder, fd));
      held.push_back({target, info && is_open_for_writing(*info)});
    } else if (target.starts_with(k_socket) && target.ends_with(']')) {
      const auto bound =
          sockets.find(target.substr(k_socket.size(), target.size() - k_socket.size() - 1));
      if (bound != sockets.end()) held.push_back({bound->second, true});
    }
  }
}

}  // namespace

std::map<std::string, std::string> socket_paths(const SystemFiles& files) {
  std::map<std::string, std::string> paths;
  std::istringstream lines(files.text("proc/net/unix").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t path = line.find(" /");
    if (path == std::string::npos) continue;
    const std::size_t inode = line.find_last_of(' ', path - 1) + 1;
    paths.emplace(line.substr(inode, path - inode), line.substr(path + 1));
  }
  return paths;
}

std::vector<HeldFile> held_files(const SystemFiles& files, pid_t pid,
                                 const std::map<std::string, std::string>& sockets) {
  std::vector<HeldFile> held;
  add_mapped(files, pid, held);
  add_open(files, pid, sockets, held);
  return held;
}

bool cleans_up(const SystemFiles& files, pid_t pid) {
  std::string words = files.text(fmt::format(FMT_COMPILE("proc/{}/cmdline"), pid)).value_or("");
  std::ranges::replace(words, '\0', ' ');
  const std::string program = words.substr(0, words.find(' '));
  if (program.ends_with("torch_shm_manager")) return true;
  const bool is_tracker = words.find("resource_tracker import main") != std::string::npos ||
                          words.find("semaphore_tracker import main") != std::string::npos ||
                          words.find("loky.backend.resource_tracker") != std::string::npos;
  return is_tracker && program.find("python") != std::string::npos;
}

}  // namespace steptune::local
