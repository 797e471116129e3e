// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/leftovers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/text.hpp"
#include "common/units.hpp"
#include "trial_runner/local/held_files.hpp"

namespace steptune::local {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_shared_memory = "dev/shm";
/// Files get the time of the kernel's last tick, which is at most this many seconds ago.
constexpr double k_clock_slack_s = 0.1;

/// Prefixes of temporary files of Python's multiprocessing, PyTorch and joblib. Results of programs
/// do not have such names.
constexpr std::array<std::string_view, 3> k_temporary_names{"pymp-", "torch-shm-dir-",
                                                            "joblib_memmapping_folder_"};

bool is_temporary_name(std::string_view name) {
  return std::ranges::any_of(k_temporary_names,
                             [&](std::string_view begin) { return name.starts_with(begin); });
}

/// Returns the earliest time of a new System V object. Their times are whole seconds.
double earliest_second(double since_wall_s) {
  return std::floor(since_wall_s - k_clock_slack_s);
}

/// Returns the time of creation; nullopt if the file system does not store it.
std::optional<double> birth_s(const fs::path& path) {
  struct statx file_times {};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME, &file_times) != 0)
    return {};
  if ((file_times.stx_mask & STATX_BTIME) == 0) return {};
  return static_cast<double>(file_times.stx_btime.tv_sec) +
         1e-9 * static_cast<double>(file_times.stx_btime.tv_nsec);
}

/// Parses the whole text as a process ID; 0 if it is none.
pid_t pid_of(std::string_view text) {
  pid_t pid = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), pid);
  return fault == std::errc() && end == text.data() + text.size() ? pid : 0;
}

/// Returns the first number in a name that is a whole word: 123 in `torch_123_456_7`,
/// `sem.loky-123-a4` and `__KMP_REGISTERED_LIB_123_0`. 0 if there is none.
pid_t pid_in(const std::string& name) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (auto at = name.begin(); at != name.end();) {
    const auto begin = std::find_if(at, name.end(), is_word);
    at = std::find_if_not(begin, name.end(), is_word);
    if (const pid_t pid = pid_of(std::string_view(begin, at)); pid > 0) return pid;
  }
  return 0;
}

std::string size_text(std::uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / k_mib_bytes);
}

}  // namespace

std::string ClearedLeftovers::text() const {
  if (left.empty()) return "";
  std::vector<std::string> names;
  for (const Leftover& one : left) {
    if (names.size() == k_shown_elements) break;
    const std::string size = one.bytes > 0 ? fmt::format(" ({})", size_text(one.bytes)) : "";
    names.push_back(printable_line(one.name, 100) + size);
  }
  if (left.size() > names.size()) {
    names.push_back(fmt::format("and {} more", left.size() - names.size()));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Leftovers::Leftovers(double since_wall_s, const fs::path& temporary, SystemFiles files,
                     SystemV system_v)
    : since_wall_s_(since_wall_s),
      temporary_(temporary.relative_path()),
      files_(std::move(files)),
      system_v_(std::move(system_v)) {
  for (const fs::path& folder : {fs::path(k_shared_memory), temporary_}) {
    for (const std::string& name : files_.names(folder))
      at_start_.insert((folder / name).string());
  }
}

Leftovers Leftovers::of_earlier(double since_wall_s, fs::path temporary) {
  Leftovers leftovers(since_wall_s, std::move(temporary));
  leftovers.at_start_.clear();
  leftovers.has_start_ = false;
  return leftovers;
}

fs::path temporary_folder(const std::map<std::string, std::string>& environment) {
  const auto named = environment.find("TMPDIR");
  const bool is_usable = named != environment.end() && named->second.starts_with('/');
  fs::path folder = is_usable ? fs::path(named->second).lexically_normal() : fs::path("/tmp");
  return folder.has_filename() ? folder : folder.parent_path();
}

SystemV SystemV::of_kernel() {
  return {[](int id) { return ::shmctl(id, IPC_RMID, nullptr) == 0; },
          [](int id) { return static_cast<pid_t>(::semctl(id, 0, GETPID)); }};
}

void Leftovers::observe(std::span<const ProcessStat> processes) {
  for (const ProcessStat& process : processes)
    pids_.insert(process.id.pid);
  if (++samples_ < next_file_sample_ || !has_unknown_shared_memory()) return;
  next_file_sample_ = 2 * samples_;
  observe_files(processes);
}

void Leftovers::observe_files(std::span<const ProcessStat> processes) {
  std::vector<pid_t> pids;
  for (const ProcessStat& process : processes) {
    pids.push_back(process.id.pid);
    pids_.insert(process.id.pid);
  }
  held_.merge(held_entries(pids, /*for_writing=*/true));
}

bool Leftovers::has_unknown_shared_memory() const {
  return std::ranges::any_of(files_.names(k_shared_memory), [&](const std::string& name) {
    const std::string path = (fs::path(k_shared_memory) / name).string();
    return !at_start_.contains(path) && !held_.contains(path) && !names_trials_process(name);
  });
}

bool Leftovers::names_trials_process(const std::string& name) const {
  return pids_.contains(pid_in(name));
}

bool Leftovers::names_live_process(const std::string& name) const {
  const pid_t pid = pid_in(name);
  const auto stat = pid > 0 ? files_.text(fmt::format("proc/{}/stat", pid)) : std::nullopt;
  if (!stat) return false;
  // A zombie has no open files.
  const std::size_t state = stat->rfind(") ");
  return state == std::string::npos || (*stat)[std::min(state + 2, stat->size() - 1)] != 'Z';
}

std::set<std::string> Leftovers::held_entries(std::span<const pid_t> pids, bool for_writing) const {
  const auto sockets = socket_paths(files_);
  std::set<std::string> held;
  for (const pid_t pid : pids) {
    for (const HeldFile& file : held_files(files_, pid, sockets)) {
      if (for_writing && !file.writes) continue;
      const fs::path path = fs::path(file.path).relative_path();
      for (const fs::path& folder : {fs::path(k_shared_memory), temporary_}) {
        const auto [in_folder, in_path] =
            std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
        if (in_folder == folder.end() && in_path != path.end())
          held.insert((folder / *in_path).string());
      }
    }
  }
  return held;
}

void Leftovers::add_entries(const fs::path& folder, std::vector<Entry>& entries) const {
  for (const std::string& name : files_.names(folder)) {
    const fs::path path = folder / name;
    struct stat status {};
    if (at_start_.contains(path.string()) || ::lstat((files_.root / path).c_str(), &status) != 0 ||
        status.st_uid != ::geteuid()) {
      continue;
    }
    const auto born_s = birth_s(files_.root / path);
    const bool is_new = born_s ? *born_s >= since_wall_s_ - k_clock_slack_s : has_start_;
    if (!is_new) continue;
    Entry& entry = entries.emplace_back();
    entry.path = path;
    entry.name = name;
    entry.bytes = static_cast<std::uint64_t>(status.st_blocks) * 512;
    entry.is_folder = S_ISDIR(status.st_mode);
    entry.is_private = (status.st_mode & (S_IRWXG | S_IRWXO)) == 0 || ::geteuid() == 0;
    entry.is_shared_memory = folder == k_shared_memory;
    entry.is_trials = held_.contains(path.string()) || names_trials_process(name);
  }
}

std::vector<Leftovers::Entry> Leftovers::new_entries() const {
  std::vector<Entry> entries;
  add_entries(k_shared_memory, entries);
  if (temporary_ != k_shared_memory) add_entries(temporary_, entries);
  return entries;
}

ClearedLeftovers Leftovers::clear() {
  ClearedLeftovers cleared;
  std::vector<Entry> entries = new_entries();
  // In the temporary folder, new files of other programs are no leftovers.
  std::erase_if(entries,
                [](const Entry& entry) { return !entry.is_trials && !entry.is_shared_memory; });
  if (!entries.empty()) {
    std::vector<pid_t> everyone;
    for (const std::string& name : files_.names("proc")) {
      if (const pid_t pid = pid_of(name); pid > 0) everyone.push_back(pid);
    }
    const std::set<std::string> in_use = held_entries(everyone, /*for_writing=*/false);
    for (const Entry& entry : entries) {
      const Leftover leftover{"/" + entry.path.string(), entry.bytes};
      const bool is_of_live_process =
          !held_.contains(entry.path.string()) && names_live_process(entry.name);
      const bool is_in_use = in_use.contains(entry.path.string()) || is_of_live_process;
      if (!entry.is_trials) {
        if (!is_in_use) cleared.left.push_back(leftover);
        continue;
      }
      const bool is_temporary =
          is_temporary_name(entry.name) || (entry.is_shared_memory && !entry.is_folder);
      const bool may_remove = is_temporary && entry.is_private && !is_in_use;
      std::error_code fault;
      if (may_remove) fs::remove_all(files_.root / entry.path, fault);
      (may_remove && !fault ? cleared.removed : cleared.left).push_back(leftover);
    }
  }
  clear_segments(cleared);
  name_semaphores(cleared);
  return cleared;
}

void Leftovers::name_semaphores(ClearedLeftovers& cleared) const {
  // Columns: key semid perms nsems uid gid cuid cgid otime ctime
  std::istringstream lines(files_.text("proc/sysvipc/sem").value_or(""));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string skipped;
    int id = 0;
    int count = 0;
    uid_t owner = 0;
    double changed_s = 0.0;
    words >> skipped >> id >> skipped >> count >> owner;
    for (int i = 0; i < 4; ++i)  // gid, cuid, cgid, otime
      words >> skipped;
    words >> changed_s;
    const bool is_new = owner == ::geteuid() && changed_s >= earliest_second(since_wall_s_);
    // The kernel keeps no process of a set's creator, so use the last process that used it.
    if (words && is_new && count > 0 && pids_.contains(system_v_.last_user_of_semaphore(id)))
      cleared.left.push_back(
          {fmt::format("semaphore set {} (remove with: ipcrm -s {})", id, id), 0});
  }
}

void Leftovers::clear_segments(ClearedLeftovers& cleared) const {
  // Columns: key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime ...
  std::istringstream lines(files_.text("proc/sysvipc/shm").value_or(""));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string key;
    std::string permissions;
    int id = 0;
    std::uint64_t bytes = 0;
    pid_t creator = 0;
    pid_t last = 0;
    int attached = 0;
    uid_t owner = 0;
    if (!(words >> key >> id >> permissions >> bytes >> creator >> last >> attached >> owner)) {
      continue;
    }
    std::string skipped;
    double changed_s = 0.0;
    for (int i = 0; i < 5; ++i)  // gid, cuid, cgid, atime, dtime
      words >> skipped;
    words >> changed_s;
    const bool is_trials = pids_.contains(creator) && owner == ::geteuid() &&
                           changed_s >= earliest_second(since_wall_s_);
    if (!is_trials) continue;
    const Leftover leftover{fmt::format("shared memory segment {}", id), bytes};
    const bool removed = attached == 0 && system_v_.remove_segment(id);
    (removed ? cleared.removed : cleared.left).push_back(leftover);
  }
}

}  // namespace steptune::local
