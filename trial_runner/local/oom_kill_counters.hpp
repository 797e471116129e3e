// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/machine/system_files.hpp"

namespace steptune::local {

/// How many processes the kernel has killed for memory: in this process's cgroup of version 2 and
/// of version 1, and on the whole machine; nothing where the kernel does not count.
using OomKills = std::array<std::optional<std::uint64_t>, 3>;

/// Where the kernel has killed something for memory between two readings.
enum class OomKillPlace {
  nowhere,
  elsewhere,  ///< on the machine, but in none of this process's groups that count
  here,       ///< in this process's group, or on the machine where no group counts
};
[[nodiscard]] OomKillPlace oom_kills_between(const OomKills& before, const OomKills& after);

/// Reads these counts; finds their files once.
class OomKillCounters {
 public:
  explicit OomKillCounters(SystemFiles files = {});
  [[nodiscard]] OomKills read() const;

 private:
  SystemFiles files_;
  std::filesystem::path version_2_;
  std::filesystem::path version_1_;
};

}  // namespace steptune::local
