// SPDX-License-Identifier: Apache-2.0
//
// Tests files and shared memory that outlive a trial's processes, on a fake machine made of files.
#include "trial_runner/local/leftovers.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/support/temporary_folder.hpp"
#include "trial_runner/local/held_files.hpp"

namespace steptune::local {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr pid_t k_trainer = 4001;
constexpr pid_t k_worker = 4002;
constexpr pid_t k_other = 5001;

class LeftoversTest : public testing::Test {
 protected:
  LeftoversTest() {
    fs::create_directories(root_.path() / "dev/shm");
    fs::create_directories(root_.path() / "tmp");
  }
  [[nodiscard]] Leftovers begin() {
    return {0.0,
            "/tmp",
            {root_.path()},
            {[this](int id) {
               removed_segments_.push_back(id);
               return true;
             },
             [](int) { return k_trainer; }}};
  }
  void write(const std::string& file,
             fs::perms permissions = fs::perms::owner_read | fs::perms::owner_write) const {
    root_.write(file, "12345678");
    fs::permissions(root_.path() / file, permissions);
  }
  void map(pid_t pid, const std::string& path, const std::string& permissions) const {
    root_.write(
        fmt::format("proc/{}/maps", pid),
        fmt::format("7f0000000000-7f0000001000 {} 00000000 00:1 77    {}\n", permissions, path));
  }
  void open(pid_t pid, int fd, const std::string& target, int flags) const {
    const auto folder = root_.path() / fmt::format("proc/{}/fd", pid);
    fs::create_directories(folder);
    fs::create_symlink(target, folder / std::to_string(fd));
    root_.write(fmt::format("proc/{}/fdinfo/{}", pid, fd),
                fmt::format("pos:\t0\nflags:\t0{:o}\n", static_cast<unsigned>(flags)));
  }
  void end(pid_t pid) const { fs::remove_all(root_.path() / fmt::format("proc/{}", pid)); }
  [[nodiscard]] bool exists(const std::string& file) const {
    return fs::exists(root_.path() / file);
  }
  static std::vector<ProcessStat> processes(std::initializer_list<pid_t> pids) {
    std::vector<ProcessStat> stats;
    for (const pid_t pid : pids)
      stats.emplace_back().id.pid = pid;
    return stats;
  }
  static std::vector<std::string> names(const std::vector<Leftover>& leftovers) {
    std::vector<std::string> found;
    for (const Leftover& one : leftovers)
      found.push_back(one.name);
    return found;
  }

  TemporaryFolder root_{"leftovers"};
  std::vector<int> removed_segments_;
};

TEST_F(LeftoversTest, FilesNamedAfterTheTrialsProcessesAreRemoved) {
  Leftovers leftovers = begin();
  leftovers.observe(processes({k_trainer, k_worker}));
  write("dev/shm/torch_4002_99_0");
  write("dev/shm/sem.loky-4001-a4");
  write("dev/shm/__KMP_REGISTERED_LIB_4001_0");
  write("tmp/joblib_memmapping_folder_4001_x/data");
  EXPECT_THAT(names(leftovers.clear().removed),
              UnorderedElementsAre("/dev/shm/torch_4002_99_0", "/dev/shm/sem.loky-4001-a4",
                                   "/dev/shm/__KMP_REGISTERED_LIB_4001_0",
                                   "/tmp/joblib_memmapping_folder_4001_x"));
  EXPECT_FALSE(exists("dev/shm/torch_4002_99_0"));
}

TEST_F(LeftoversTest, FilesMappedForWritingAreRemoved) {
  Leftovers leftovers = begin();
  write("dev/shm/psm_a1b2c3d4");
  map(k_worker, "/dev/shm/psm_a1b2c3d4", "rw-s");
  leftovers.observe_files(processes({k_trainer, k_worker}));
  end(k_worker);
  const ClearedLeftovers cleared = leftovers.clear();
  EXPECT_THAT(names(cleared.removed), ElementsAre("/dev/shm/psm_a1b2c3d4"));
  EXPECT_EQ(cleared.text(), "");
}

TEST_F(LeftoversTest, EarlierFilesAreKept) {
  write("dev/shm/psm_old");
  write("dev/shm/torch_4001_1_0");
  Leftovers leftovers = begin();
  map(k_trainer, "/dev/shm/psm_old", "rw-s");
  leftovers.observe_files(processes({k_trainer}));
  end(k_trainer);
  const ClearedLeftovers cleared = leftovers.clear();
  EXPECT_THAT(cleared.removed, IsEmpty());
  EXPECT_THAT(cleared.left, IsEmpty());
  EXPECT_TRUE(exists("dev/shm/torch_4001_1_0"));
}

TEST_F(LeftoversTest, FilesThatAnotherProcessHoldsAreNamedAndKept) {
  Leftovers leftovers = begin();
  leftovers.observe(processes({k_trainer}));
  write("dev/shm/torch_4001_1_0");
  map(k_other, "/dev/shm/torch_4001_1_0", "r--s");
  const ClearedLeftovers cleared = leftovers.clear();
  EXPECT_THAT(cleared.removed, IsEmpty());
  EXPECT_THAT(names(cleared.left), ElementsAre("/dev/shm/torch_4001_1_0"));
  EXPECT_TRUE(exists("dev/shm/torch_4001_1_0"));
}

TEST_F(LeftoversTest, FilesThatTheTrialOnlyReadAreKept) {
  Leftovers leftovers = begin();
  write("dev/shm/dataset");
  open(k_trainer, 3, "/dev/shm/dataset", O_RDONLY);
  leftovers.observe_files(processes({k_trainer}));
  end(k_trainer);
  const ClearedLeftovers cleared = leftovers.clear();
  EXPECT_THAT(cleared.removed, IsEmpty());
  EXPECT_TRUE(exists("dev/shm/dataset"));
  EXPECT_THAT(cleared.text(), testing::HasSubstr("/dev/shm/dataset ("));
}

TEST_F(LeftoversTest, OthersNewFilesInSharedMemoryAreLeftAlone) {
  Leftovers leftovers = begin();
  leftovers.observe(processes({k_trainer}));
  write("dev/shm/torch_5001_1_0");
  root_.write("proc/5001/stat", "5001 (python3) S 1");
  const ClearedLeftovers cleared = leftovers.clear();
  EXPECT_THAT(cleared.removed, IsEmpty());
  EXPECT_THAT(cleared.left, IsEmpty());
}

TEST_F(LeftoversTest, ResultsInTheTemporaryFolderAreNamedNotRemoved) {
  Leftovers leftovers = begin();
  write("tmp/checkpoints/model.pt");
  write("tmp/pymp-k3/listener");
  write("tmp/unrelated");
  open(k_trainer, 3, "/tmp/checkpoints/model.pt", O_WRONLY);
  open(k_trainer, 4, "socket:[88]", O_RDWR);
  root_.write("proc/net/unix",
              "Num RefCount Protocol Flags Type St Inode Path\n"
              "0: 00000002 00000000 00010000 0001 01 88 /tmp/pymp-k3/listener\n");
  leftovers.observe_files(processes({k_trainer}));
  end(k_trainer);
  for (const char* folder : {"tmp/checkpoints", "tmp/pymp-k3"})
    fs::permissions(root_.path() / folder, fs::perms::owner_all);
  const ClearedLeftovers cleared = leftovers.clear();
  EXPECT_THAT(names(cleared.removed), ElementsAre("/tmp/pymp-k3"));
  EXPECT_THAT(names(cleared.left), ElementsAre("/tmp/checkpoints"));
  EXPECT_TRUE(exists("tmp/unrelated"));
}

TEST_F(LeftoversTest, SystemVMemoryThatTheTrialCreatedIsRemoved) {
  const auto own = ::geteuid();
  root_.write(
      "proc/sysvipc/shm",
      "key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap\n" +
          fmt::format("0 7 600 4096 4001 4001 0 {0} 0 {0} 0 0 0 100 0 0\n", own) +
          fmt::format("0 8 600 4096 4001 4001 1 {0} 0 {0} 0 0 0 100 0 0\n", own) +
          fmt::format("0 9 600 4096 5001 5001 0 {0} 0 {0} 0 0 0 100 0 0\n", own));
  root_.write("proc/sysvipc/sem", "key semid perms nsems uid gid cuid cgid otime ctime\n" +
                                      fmt::format("0 3 600 1 {0} 0 {0} 0 100 100\n", own));
  Leftovers leftovers = begin();
  leftovers.observe(processes({k_trainer}));
  const ClearedLeftovers cleared = leftovers.clear();
  EXPECT_THAT(removed_segments_, ElementsAre(7));
  EXPECT_THAT(names(cleared.left),
              ElementsAre("shared memory segment 8", "semaphore set 3 (remove with: ipcrm -s 3)"));
}

TEST_F(LeftoversTest, HelpersThatCleanUpAreKnownByTheirCommand) {
  using namespace std::string_literals;
  root_.write("proc/1/cmdline", "/usr/lib/torch/bin/torch_shm_manager\0"s);
  root_.write("proc/2/cmdline",
              "/usr/bin/python3\0-c\0from multiprocessing.resource_tracker import main;main(5)\0"s);
  root_.write("proc/3/cmdline", "/usr/bin/python3\0train.py\0"s);
  root_.write("proc/4/cmdline", "/bin/grep\0resource_tracker import main\0"s);
  const SystemFiles files{root_.path()};
  EXPECT_TRUE(cleans_up(files, 1));
  EXPECT_TRUE(cleans_up(files, 2));
  EXPECT_FALSE(cleans_up(files, 3));
  EXPECT_FALSE(cleans_up(files, 4));
}

}  // namespace
}  // namespace steptune::local
