// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "common/machine/system_files.hpp"

namespace steptune {

/// Libraries in a running program that read their settings from environment variables.
struct NativeRuntimes {
  bool has_openmp = false;    ///< GNU's libgomp, LLVM's libomp, Intel's libiomp5
  bool has_openblas = false;  ///< with its own threads, besides OpenMP's
  /// True if the C library allocates memory; `GLIBC_TUNABLES` sets its behaviour.
  bool has_glibc_malloc = false;
  /// True for glibc 2.35 or later if the kernel gives huge pages on request.
  bool may_ask_for_huge_pages = false;
  /// CPU seconds in the kernel, for example for new memory pages, per second of the process's life.
  double kernel_share = 0.0;
  /// Number of computing threads observed while the program ran (`ProcessActivity`); 0: unknown.
  int computing_threads = 0;
  /// Environment variables of these libraries at the program's start.
  std::map<std::string, std::string> environment;
  /// Variables among them that the command itself sets; its values override given ones.
  std::set<std::string> set_by_command;

  [[nodiscard]] bool has_threads() const { return has_openmp || has_openblas; }
  /// Returns an empty text if the variable is not set.
  [[nodiscard]] std::string value_of(const std::string& variable) const;
};

/// True if `glibc.malloc.hugetlb=1` has an effect. With the kernel's mode `always`, this setting
/// has no effect.
[[nodiscard]] bool may_ask_for_huge_pages(const SystemFiles& files, std::string_view glibc_version);

/// Returns the libraries among the files that a process has mapped.
[[nodiscard]] NativeRuntimes runtimes_in(const std::set<std::string>& mapped_files);

/// Returns the libraries of the first process below `root` that has loaded OpenMP or OpenBLAS. If
/// there is none, uses the process with the most CPU time. Ignores the tuner's own processes.
/// Returns an empty result if there is no other process. The processes have run for about
/// `running_s`, which must be positive.
[[nodiscard]] NativeRuntimes runtimes_below(pid_t root, double running_s);

}  // namespace steptune
