// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/trial_process.hpp"

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/compile.h>
#include <fmt/format.h>
#include <unistd.h>

#include "common/machine/cpus.hpp"
#include "common/system_reason.hpp"
#include "trial_runner/local/cpu_set.hpp"

namespace steptune::local {
namespace {

/// So much that a trial does not have to wait for the tuner's attention; the unprivileged maximum.
constexpr int k_pipe_bytes = 1 << 20;
constexpr std::string_view k_oom_preference = "500";

void prefer_for_oom_kill(pid_t pid) {
  const UniqueFd file(::open(fmt::format(FMT_COMPILE("/proc/{}/oom_score_adj"), pid).c_str(),
                             O_WRONLY | O_CLOEXEC));
  // Refused where the tuner is preferred even more: then so is the trial.
  [[maybe_unused]] const ssize_t written =
      file ? ::write(file.get(), k_oom_preference.data(), k_oom_preference.size()) : 0;
}

}  // namespace

Result<OutputPipe> make_output_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorKind::unavailable, "cannot create a pipe: " + system_reason(errno), {},
                "raise the limit of open files: ulimit -n");
  }
  OutputPipe pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  // Of the reader's end only: the trial's is a file description of its own.
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(pipe.read.get(), F_SETPIPE_SZ, k_pipe_bytes);
  return pipe;
}

TrialProcess trial_process_of(pid_t child, UniqueFd output) {
  prefer_for_oom_kill(child);
  TrialProcess process;
  process.main.pid = child;
  // Not reaped yet, so it is there, if only as a zombie.
  if (const auto stat = read_stat(child)) process.main = stat->id;
  process.pidfd = open_pidfd(child);
  process.output = std::move(output);
  return process;
}

Result<TrialProcess> start_trial_process(const TrialSpec& spec, const std::vector<int>& cpus,
                                         Environment environment) {
  auto pipe = make_output_pipe();
  if (!pipe) return tl::unexpected(pipe.error());
  SpawnRequest request;
  request.argv = spec.argv;
  request.environment = std::move(environment);
  request.working_directory = spec.working_directory;
  request.output_fd = pipe->write.get();

  const AffinityScope affinity(cpus);
  if (affinity.error() != 0) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot bind the trial to CPUs {}: {}", format_cpus(cpus),
                            system_reason(affinity.error())),
                {},
                "another program has changed the CPUs that this one may use; set \"pin\" to false");
  }
  const auto pid = spawn(request);
  if (!pid) return tl::unexpected(pid.error());
  return trial_process_of(*pid, std::move(pipe->read));
}

}  // namespace steptune::local
