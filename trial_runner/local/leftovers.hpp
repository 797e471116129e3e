// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/machine/processes.hpp"
#include "common/machine/system_files.hpp"

namespace steptune::local {

/// A file or memory segment that still exists after a trial's processes have ended.
struct Leftover {
  std::string name;  ///< its path, or `shared memory segment 7`
  std::uint64_t bytes = 0;
};

/// Leftovers of a trial, removed or not.
struct ClearedLeftovers {
  std::vector<Leftover> removed;
  std::vector<Leftover> left;  ///< perhaps not the trial's, or not removable
  /// Formats `left` as `/dev/shm/a (8.1 MiB), ...`; empty if nothing is left.
  [[nodiscard]] std::string text() const;
};

/// Returns the folder in which a process with this environment keeps temporary files.
[[nodiscard]] std::filesystem::path temporary_folder(
    const std::map<std::string, std::string>& environment);

/// System calls for System V shared memory and semaphores, for actions and facts that /proc does
/// not offer.
struct SystemV {
  std::function<bool(int id)> remove_segment;  ///< false if that fails
  /// Returns the process that last used the set's first semaphore; -1: unknown.
  std::function<pid_t(int id)> last_user_of_semaphore;
  [[nodiscard]] static SystemV of_kernel();
};

/// Finds files and segments that a trial leaves in /dev/shm, in its temporary folder, and in System
/// V shared memory and semaphores.
///
/// A file belongs to the trial if it was created during the trial and is owned by this user. In
/// addition, its name must contain the ID of one of the trial's processes, or one of them must have
/// opened it for writing. In the temporary folder, only files with the names of known temporary
/// files are removed, because a program may store results there. The same applies to folders in
/// /dev/shm. A segment belongs to the trial if one of the trial's processes created it. Files that
/// a live process has open and segments in use stay. Files that another user may open stay, too,
/// unless this user is root. Semaphores are only reported.
class Leftovers {
 public:
  /// Ignores everything that exists now. `temporary` is the trial's temporary folder, absolute.
  Leftovers(double since_wall_s, const std::filesystem::path& temporary, SystemFiles files = {},
            SystemV system_v = SystemV::of_kernel());

  /// Finds leftovers of a trial that began at `since_wall_s` (seconds since 1970), before this
  /// object existed.
  [[nodiscard]] static Leftovers of_earlier(double since_wall_s, std::filesystem::path temporary);

  /// Records the trial's process IDs. Called at each sample of its processes. If /dev/shm has new
  /// entries that may be the trial's, also records which files its processes hold, at growing
  /// intervals.
  void observe(std::span<const ProcessStat> processes);
  /// Records the files that the processes hold, right before they are ended.
  void observe_files(std::span<const ProcessStat> processes);

  /// Removes leftovers. Call it when all processes of the trial are gone.
  ClearedLeftovers clear();

 private:
  struct Entry {
    std::filesystem::path path;  ///< relative to the file system's root
    std::string name;
    std::uint64_t bytes = 0;
    bool is_folder = false;
    bool is_private = false;  ///< no other user may open it
    bool is_shared_memory = false;
    bool is_trials = false;
  };

  [[nodiscard]] std::vector<Entry> new_entries() const;
  void add_entries(const std::filesystem::path& folder, std::vector<Entry>& entries) const;
  [[nodiscard]] bool has_unknown_shared_memory() const;
  /// True if the name contains the ID of one of the trial's processes, as in `torch_123_456_7`.
  [[nodiscard]] bool names_trials_process(const std::string& name) const;
  [[nodiscard]] bool names_live_process(const std::string& name) const;
  /// Returns the entries of the watched folders that these live processes hold.
  [[nodiscard]] std::set<std::string> held_entries(std::span<const pid_t> pids,
                                                   bool for_writing) const;
  void clear_segments(ClearedLeftovers& cleared) const;
  void name_semaphores(ClearedLeftovers& cleared) const;

  double since_wall_s_;
  std::filesystem::path temporary_;
  SystemFiles files_;
  SystemV system_v_;
  std::set<std::string> at_start_;  ///< paths of the entries that existed at the start
  bool has_start_ = true;
  std::set<pid_t> pids_;
  std::set<std::string> held_;  ///< paths of entries that the trial had open for writing
  int samples_ = 0;
  int next_file_sample_ = 1;
};

}  // namespace steptune::local
