// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gmock/gmock.h>

#include "common/machine/cpus.hpp"
#include "common/machine/memory.hpp"
#include "common/machine/system_files.hpp"
#include "tests/unit/common/fake_machine.hpp"

namespace steptune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

TEST(SystemFiles, MissingFilesGiveNothing) {
  const FakeMachine machine;
  EXPECT_FALSE(machine.files().text("proc/none"));
  EXPECT_FALSE(machine.files().line("proc/none"));
  EXPECT_FALSE(machine.files().number("proc/none"));
  EXPECT_THAT(machine.files().words("proc/none"), IsEmpty());
  EXPECT_THAT(machine.files().names("proc"), IsEmpty());
  EXPECT_FALSE(machine.files().exists("proc"));
}

TEST(SystemFiles, ReadsTheFirstLine) {
  const FakeMachine machine;
  machine.write("sys/a", "12.5 us\n13 us\n");
  machine.write("sys/empty", "");
  EXPECT_THAT(machine.files().line("sys/a"), Optional(std::string("12.5 us")));
  EXPECT_THAT(machine.files().words("sys/a"), ElementsAre("12.5", "us"));
  EXPECT_THAT(machine.files().number("sys/a"), Optional(12.5));
  EXPECT_FALSE(machine.files().line("sys/empty"));
  EXPECT_THAT(machine.files().names("sys"), ElementsAre("a", "empty"));
}

TEST(SystemFiles, ReadsNoMoreThanAsked) {
  const FakeMachine machine;
  machine.write("big", std::string(100'000, 'x'));
  const auto text = read_system_file(machine.files().root / "big", 10'000);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->size(), 10'000U);
}

TEST(UsableCpus, AreWholeAndAtLeastOne) {
  EXPECT_EQ(usable_cpus(8, std::nullopt), 8);
  EXPECT_EQ(usable_cpus(8, 16.0), 8);
  EXPECT_EQ(usable_cpus(8, 1.5), 1);
  EXPECT_EQ(usable_cpus(8, 3.99), 3);
  EXPECT_EQ(usable_cpus(8, 0.5), 1);
}

TEST(AllowedCpus, CpusOfThisProcessAscend) {
  const auto cpus = allowed_cpus();
  ASSERT_TRUE(cpus);
  EXPECT_FALSE(cpus->empty());
  EXPECT_TRUE(std::ranges::is_sorted(*cpus));
}

TEST(Memory, IsReadFromTheKernelsTable) {
  const FakeMachine machine;
  machine.write("proc/meminfo",
                "MemTotal:       8192 kB\nMemFree: 1 kB\nMemAvailable:    4096 kB\n"
                "HugePages_Total:       0\nSwapTotal:      100 kB\nSwapFree:        40 kB\n");
  const MemoryInfo memory = read_memory_info(machine.files());
  EXPECT_THAT(memory.total_bytes, Optional(8192 * 1024.0));
  EXPECT_THAT(memory.available_bytes, Optional(4096 * 1024.0));
  EXPECT_THAT(memory.swapped_bytes, Optional(60 * 1024.0));
}

TEST(Memory, TheCgroupLimitsTheUsablePart) {
  const FakeMachine machine;
  EXPECT_EQ(usable_memory_bytes(machine.files()), 0.0);
  machine.write("proc/meminfo", "MemTotal: 4 kB\n");
  EXPECT_EQ(usable_memory_bytes(machine.files()), 4096.0);
  machine.write("proc/self/cgroup", "0::/\n");
  machine.write("sys/fs/cgroup/memory.max", "8192\n");
  EXPECT_EQ(usable_memory_bytes(machine.files()), 4096.0) << "more than the machine has";
  machine.write("sys/fs/cgroup/memory.max", "1024\n");
  EXPECT_EQ(usable_memory_bytes(machine.files()), 1024.0);
}

}  // namespace
}  // namespace steptune
