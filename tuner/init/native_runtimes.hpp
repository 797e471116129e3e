// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "common/machine/system_files.hpp"

namespace steptune {

/// Libraries in a running program that read from variables of the environment how they shall work,
/// whatever the program's own options are.
struct NativeRuntimes {
  bool has_openmp = false;    ///< GNU's libgomp, LLVM's libomp, Intel's libiomp5
  bool has_openblas = false;  ///< with threads of its own, beside OpenMP's
  /// Memory is that of the C library, whose habits `GLIBC_TUNABLES` sets.
  bool has_glibc_malloc = false;
  /// glibc 2.35 or later, and the kernel gives huge pages where it is asked for them.
  bool may_ask_for_huge_pages = false;
  int computing_threads = 0;  ///< as seen while it ran (`ProcessActivity`); 0: not known
  /// What it was started with of the variables that they read.
  std::map<std::string, std::string> environment;
  /// Those of them that the command itself has set, whatever it was given.
  std::set<std::string> set_by_command;

  [[nodiscard]] bool has_threads() const { return has_openmp || has_openblas; }
  /// Empty where it is not set.
  [[nodiscard]] std::string value_of(const std::string& variable) const;
};

/// True if `glibc.malloc.hugetlb=1` has an effect. With the kernel's mode `always` glibc does not
/// ask.
[[nodiscard]] bool may_ask_for_huge_pages(const SystemFiles& files, std::string_view glibc_version);

/// The libraries among these files, which a process has mapped.
[[nodiscard]] NativeRuntimes runtimes_in(const std::set<std::string>& mapped_files);

/// Those of the process below `root` that computes with OpenMP or OpenBLAS; of several, the first.
/// Programs that are this one are left out. Nothing where there is none.
[[nodiscard]] NativeRuntimes runtimes_below(pid_t root);

}  // namespace steptune
