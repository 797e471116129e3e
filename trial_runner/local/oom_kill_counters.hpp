// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/machine/system_files.hpp"

namespace steptune::local {

/// Numbers of processes that the kernel killed for lack of memory. The three counts cover this
/// process's control group of version 2, its group of version 1, and the whole machine. nullopt:
/// the kernel has no such count.
using OomKills = std::array<std::optional<std::uint64_t>, 3>;

/// Place where the kernel killed processes for lack of memory between two readings.
enum class OomKillPlace {
  nowhere,
  elsewhere,  ///< on the machine, but in none of this process's groups with a count
  here,       ///< in this process's group, or on the machine if no group has a count
};
[[nodiscard]] OomKillPlace oom_kills_between(const OomKills& before, const OomKills& after);

/// Reads the counts; finds their files once.
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
