// SPDX-License-Identifier: Apache-2.0
#include "common/machine/processes.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <memory>
#include <string_view>

#include <dirent.h>
#include <fmt/compile.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/machine/system_files.hpp"

namespace steptune {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

/// Removes the next blank-separated field from `text` and returns it.
std::string_view take_field(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  const std::size_t length = std::min(text.find_first_of(" \n"), text.size());
  const std::string_view field = text.substr(0, length);
  text.remove_prefix(length);
  return field;
}

template <typename Number>
Number take_number(std::string_view& text) {
  const std::string_view field = take_field(text);
  Number number{};
  std::from_chars(field.data(), field.data() + field.size(), number);
  return number;
}

void append_numbers(std::string_view text, std::vector<pid_t>& numbers) {
  while (const auto number = take_number<pid_t>(text))
    numbers.push_back(number);
}

/// Returns the numeric entries of a directory of /proc.
std::vector<pid_t> numeric_entries(const char* path) {
  std::vector<pid_t> entries;
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(path));
  if (!directory) return entries;
  while (const dirent* entry = ::readdir(directory.get())) {
    std::string_view name = entry->d_name;
    if (const auto number = take_number<pid_t>(name); number > 0) entries.push_back(number);
  }
  return entries;
}

/// Splits `text` at `separator`. The text must outlive the parts.
std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::optional<ProcessStat> stat_of(pid_t pid, const std::string& text) {
  // The command name is in parentheses and may contain blanks and parentheses.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(text).substr(name_end + 1);
  ProcessStat stat;
  stat.id.pid = pid;
  const std::string_view state = take_field(rest);
  if (state.empty()) return std::nullopt;
  stat.state = state.front();
  stat.parent = take_number<pid_t>(rest);
  stat.group = take_number<pid_t>(rest);
  for (int field = 6; field <= 13; ++field)  // session to cmajflt
    take_field(rest);
  const auto ticks_per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto take_time_s = [&rest, ticks_per_s] {
    return static_cast<double>(take_number<std::uint64_t>(rest)) / ticks_per_s;
  };
  stat.own_cpu_s = take_time_s();
  stat.own_kernel_s = take_time_s();
  stat.own_cpu_s += stat.own_kernel_s;
  stat.cpu_s = stat.own_cpu_s + take_time_s();  // plus user time of children
  stat.cpu_s += take_time_s();                  // plus kernel time of children
  for (int field = 18; field <= 21; ++field)    // priority to itrealvalue
    take_field(rest);
  stat.id.start_ticks = take_number<std::uint64_t>(rest);
  take_field(rest);  // virtual size
  stat.resident_bytes =
      take_number<std::uint64_t>(rest) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return stat;
}

/// Finds children on kernels without /proc/PID/task/TID/children.
std::vector<pid_t> children_by_scan(pid_t parent) {
  std::vector<pid_t> children;
  for (const pid_t pid : all_processes()) {
    const auto stat = read_stat(pid);
    if (stat && stat->parent == parent) children.push_back(pid);
  }
  return children;
}

}  // namespace

std::optional<ProcessStat> read_stat(pid_t pid) {
  const auto text = read_system_file(fmt::format(FMT_COMPILE("/proc/{}/stat"), pid));
  return text ? stat_of(pid, *text) : std::nullopt;
}

std::vector<ThreadStat> threads_of(const SystemFiles& files, pid_t pid) {
  const std::string folder = fmt::format(FMT_COMPILE("proc/{}/task"), pid);
  std::vector<ThreadStat> threads;
  for (const pid_t thread : numeric_entries((files.root / folder).c_str())) {
    const std::string of_thread = fmt::format(FMT_COMPILE("{}/{}"), folder, thread);
    const auto text = files.text(of_thread + "/stat");
    const auto stat = text ? stat_of(thread, *text) : std::nullopt;
    if (!stat || stat->is_zombie()) continue;
    ThreadStat& thread_stat = threads.emplace_back();
    thread_stat.id = thread;
    thread_stat.state = stat->state;
    thread_stat.cpu_s = stat->own_cpu_s;
    const auto times = files.text(of_thread + "/schedstat");
    if (!times || times->empty()) continue;
    // schedstat: nanoseconds on a CPU and waiting for a CPU, finer than the ticks of `stat`.
    std::string_view rest = *times;
    thread_stat.cpu_s = 1e-9 * static_cast<double>(take_number<std::uint64_t>(rest));
    thread_stat.cpu_wait_s = 1e-9 * static_cast<double>(take_number<std::uint64_t>(rest));
  }
  return threads;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  for (const pid_t thread : numeric_entries(fmt::format("/proc/{}/task", pid).c_str())) {
    const auto text = read_system_file(fmt::format("/proc/{}/task/{}/children", pid, thread));
    if (text) {
      append_numbers(*text, children);
    } else if (::access("/proc/self/task", F_OK) == 0 &&
               ::access(fmt::format("/proc/self/task/{}/children", ::getpid()).c_str(), F_OK) !=
                   0) {
      return children_by_scan(pid);
    }
  }
  return children;
}

std::vector<pid_t> adopted_children_of_self() {
  // The kernel gives orphans to the first live thread of the subreaper, which is the leader.
  const pid_t self = ::getpid();
  const auto text =
      read_system_file(fmt::format(FMT_COMPILE("/proc/{}/task/{}/children"), self, self));
  if (!text) return children_by_scan(self);
  std::vector<pid_t> children;
  append_numbers(*text, children);
  return children;
}

std::vector<ProcessStat> process_tree(pid_t root) {
  std::vector<ProcessStat> tree;
  std::vector<pid_t> open{root};
  while (!open.empty()) {
    const pid_t pid = open.back();
    open.pop_back();
    const auto stat = read_stat(pid);
    if (!stat) continue;
    if (!stat->is_zombie()) tree.push_back(*stat);
    for (const pid_t child : children_of(pid))
      open.push_back(child);
  }
  return tree;
}

std::vector<pid_t> all_processes() {
  return numeric_entries("/proc");
}

bool environment_has(pid_t pid, std::span<const std::string> entries) {
  const auto text = read_system_file(fmt::format("/proc/{}/environ", pid));
  if (!text || text->empty()) return false;
  const std::vector<std::string_view> held = parts_of(*text, '\0');
  return std::ranges::all_of(entries, [&](const std::string& entry) {
    return std::ranges::find(held, std::string_view(entry)) != held.end();
  });
}

std::map<std::string, std::string> environment_of(pid_t pid) {
  std::map<std::string, std::string> environment;
  const std::string text = read_system_file(fmt::format("/proc/{}/environ", pid)).value_or("");
  for (const std::string_view entry : parts_of(text, '\0')) {
    const std::size_t equals = entry.find('=');
    // If a variable occurs twice, getenv uses the first.
    if (equals != std::string_view::npos)
      environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return environment;
}

std::set<std::string> mapped_files(pid_t pid) {
  std::set<std::string> files;
  const std::string text = read_system_file(fmt::format("/proc/{}/maps", pid)).value_or("");
  for (const std::string_view line : parts_of(text, '\n')) {
    const std::size_t path = line.find('/');
    if (path != std::string_view::npos) files.emplace(line.substr(path));
  }
  return files;
}

UniqueFd open_pidfd(pid_t pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

bool send_signal(const ProcessId& process, int signal) {
  // Open the handle first and check the identity afterwards: the handle then refers to the checked
  // process.
  const UniqueFd handle = open_pidfd(process.pid);
  const auto stat = read_stat(process.pid);
  if (!stat || stat->id != process || stat->is_zombie()) return false;
  if (handle) return ::syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0) == 0;
  return ::kill(process.pid, signal) == 0;
}

std::string boot_id() {
  std::string id = read_system_file("/proc/sys/kernel/random/boot_id").value_or("");
  while (!id.empty() && id.back() == '\n')
    id.pop_back();
  return id;
}

}  // namespace steptune
