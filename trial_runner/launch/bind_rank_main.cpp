// SPDX-License-Identifier: Apache-2.0
//
// steptune-bind-rank CPUS PROGRAM ARGUMENT...: binds itself to its part of CPUS (`0-3/4-7`, chosen
// by the local rank that the launcher sets) and becomes the program.
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <unistd.h>

#include "common/environment.hpp"
#include "common/exit_status.hpp"
#include "common/machine/cpus.hpp"
#include "common/system_reason.hpp"

namespace {

/// Returns the local rank set by torchrun, Open MPI or Intel's MPI.
std::optional<std::size_t> local_rank() {
  const steptune::Environment environment = steptune::process_environment();
  for (const char* variable : {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"}) {
    const auto text = environment(variable);
    if (!text) continue;
    std::size_t rank = 0;
    const char* const end = text->data() + text->size();
    const auto read = std::from_chars(text->data(), end, rank);
    if (read.ec == std::errc{} && read.ptr == end) return rank;
  }
  return std::nullopt;
}

std::string_view part_of(std::string_view parts, std::size_t rank) {
  for (; rank > 0 && !parts.empty(); --rank) {
    const std::size_t end = parts.find('/');
    parts.remove_prefix(end == std::string_view::npos ? parts.size() : end + 1);
  }
  return parts.substr(0, parts.find('/'));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("steptune-bind-rank is started by steptune; it is of no use by itself\n", stderr);
    return 2;  // as shells do for wrong use
  }
  if (const auto rank = local_rank()) {
    const std::string part(part_of(argv[1], *rank));
    const std::vector<int> cpus = steptune::parse_cpus(part);
    const int error = cpus.empty() ? 0 : steptune::bind_calling_thread(cpus);
    if (error != 0) {
      std::fprintf(stderr, "steptune: rank %zu is not bound to CPUs %s: %s\n", *rank, part.c_str(),
                   steptune::system_reason(error).c_str());
    }
  }
  ::execvp(argv[2], argv + 2);
  const int error = errno;
  std::fprintf(stderr, "steptune: cannot start \"%s\": %s\n", argv[2],
               steptune::system_reason(error).c_str());
  return error == ENOENT ? steptune::k_not_found_status : steptune::k_not_executable_status;
}
