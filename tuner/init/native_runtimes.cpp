// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/native_runtimes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <unistd.h>

#include "common/machine/processes.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

constexpr std::array k_variables{"OMP_NUM_THREADS", "OMP_WAIT_POLICY", "OPENBLAS_NUM_THREADS",
                                 "GLIBC_TUNABLES"};

constexpr std::pair k_least_glibc_for_huge_pages{2, 35};

bool begins_with_any(const std::string& name, std::initializer_list<const char*> beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](const char* beginning) { return name.starts_with(beginning); });
}

std::string program_of(pid_t pid) {
  std::error_code error;
  return fs::read_symlink(fmt::format("/proc/{}/exe", pid), error).string();
}

}  // namespace

std::string NativeRuntimes::value_of(const std::string& variable) const {
  const auto found = environment.find(variable);
  return found == environment.end() ? "" : found->second;
}

bool may_ask_for_huge_pages(const SystemFiles& files, std::string_view glibc_version) {
  const auto modes = files.line("sys/kernel/mm/transparent_hugepage/enabled");
  if (!modes || modes->find("[madvise]") == std::string::npos) return false;
  int release = 0;
  int update = 0;
  const auto* end = glibc_version.data() + glibc_version.size();
  const auto point = std::from_chars(glibc_version.data(), end, release);
  if (point.ec != std::errc() || point.ptr == end) return false;
  std::from_chars(point.ptr + 1, end, update);
  return std::pair(release, update) >= k_least_glibc_for_huge_pages;
}

NativeRuntimes runtimes_in(const std::set<std::string>& mapped_files) {
  NativeRuntimes found;
  bool has_libc = false;
  bool has_other_malloc = false;
  for (const std::string& file : mapped_files) {
    const std::string name = fs::path(file).filename().string();
    if (begins_with_any(name, {"libgomp", "libomp.", "libomp-", "libiomp5"})) {
      found.has_openmp = true;
    }
    // Debian names the library libopenblas, Python's wheels name it libscipy_openblas. Variants
    // that were built with OpenMP use OpenMP's threads.
    const bool is_openblas = begins_with_any(name, {"libopenblas", "libscipy_openblas"}) &&
                             !name.starts_with("libopenblaso") &&
                             file.find("openblas-openmp") == std::string::npos;
    if (is_openblas) found.has_openblas = true;
    has_libc = has_libc || begins_with_any(name, {"libc.so.6", "libc-2."});
    has_other_malloc =
        has_other_malloc || begins_with_any(name, {"libjemalloc", "libtcmalloc", "libmimalloc"});
  }
  found.has_glibc_malloc = has_libc && !has_other_malloc;
  return found;
}

NativeRuntimes runtimes_below(pid_t root, double running_s) {
  const std::string own = program_of(::getpid());
  const auto own_environment = environment_of(::getpid());
  NativeRuntimes busiest;
  double most_cpu_s = 0.0;
  for (const ProcessStat& process : process_tree(root)) {
    if (program_of(process.id.pid) == own) continue;
    NativeRuntimes found = runtimes_in(mapped_files(process.id.pid));
    if (!found.has_threads() && process.own_cpu_s <= most_cpu_s) continue;
    found.kernel_share = process.own_kernel_s / running_s;
    // Assume that the program uses the tuner's C library. A program in a container may not.
    found.may_ask_for_huge_pages = may_ask_for_huge_pages(SystemFiles(), ::gnu_get_libc_version());
    const auto environment = environment_of(process.id.pid);
    for (const char* variable : k_variables) {
      const auto here = environment.find(variable);
      const auto given = own_environment.find(variable);
      if (here == environment.end()) continue;
      found.environment.insert(*here);
      const bool as_given = given != own_environment.end() && given->second == here->second;
      if (!as_given) found.set_by_command.insert(variable);
    }
    if (found.has_threads()) return found;
    most_cpu_s = process.own_cpu_s;
    busiest = std::move(found);
  }
  return busiest;
}

}  // namespace steptune
