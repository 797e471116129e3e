// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/trial_process.hpp"

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/compile.h>
#include <fmt/format.h>
#include <unistd.h>

#include "common/machine/cpus.hpp"
#include "common/system_reason.hpp"
#include "trial_runner/local/cpu_set.hpp"
#include "trial_runner/local/pseudo_terminal.hpp"

namespace steptune::local {
namespace {

constexpr std::string_view k_oom_preference = "500";
/// Value of TERM, which programs need to move the cursor. Most systems know this terminal.
constexpr const char* k_terminal_type = "xterm";

void prefer_for_oom_kill(pid_t pid) {
  const UniqueFd file(::open(fmt::format(FMT_COMPILE("/proc/{}/oom_score_adj"), pid).c_str(),
                             O_WRONLY | O_CLOEXEC));
  // The kernel refuses a value below the tuner's own value. The trial has then inherited that
  // higher value.
  [[maybe_unused]] const ssize_t written =
      file ? ::write(file.get(), k_oom_preference.data(), k_oom_preference.size()) : 0;
}

/// A trial's standard streams.
struct TrialStreams {
  UniqueFd read;     ///< this program's end of the output
  UniqueFd written;  ///< the trial's end of the output
  UniqueFd input;    ///< empty: /dev/null
};

Result<UniqueFd> open_input(const std::filesystem::path& file) {
  UniqueFd input(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (input) return input;
  return fail(ErrorKind::runner, "cannot open the standard input: " + system_reason(errno),
              file.string(), "name a file that can be read: \"stdin\", or --stdin FILE");
}

Result<TrialStreams> open_streams(const TrialSpec& spec) {
  TrialStreams streams;
  if (!spec.standard_input.empty()) {
    auto input = open_input(spec.standard_input);
    if (!input) return tl::unexpected(input.error());
    streams.input = *std::move(input);
  }
  if (!spec.terminal) {
    auto pipe = make_output_pipe();
    if (!pipe) return tl::unexpected(pipe.error());
    streams.read = std::move(pipe->read);
    streams.written = std::move(pipe->write);
    return streams;
  }
  auto terminal = open_pseudo_terminal();
  if (!terminal) return tl::unexpected(terminal.error());
  streams.read = std::move(terminal->tuner_end);
  streams.written = std::move(terminal->trial_end);
  if (!streams.input) {
    streams.input = UniqueFd(::fcntl(streams.written.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  }
  return streams;
}

}  // namespace

Result<Pipe> make_output_pipe() {
  auto pipe = make_pipe();
  if (!pipe) return pipe;
  // Only the read end becomes non-blocking: the trial's end is a separate file description.
  ::fcntl(pipe->read.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(pipe->read.get(), F_SETPIPE_SZ, k_pipe_bytes);
  return pipe;
}

TrialProcess trial_process_of(pid_t child, UniqueFd output) {
  prefer_for_oom_kill(child);
  TrialProcess process;
  process.main.pid = child;
  // The child is not reaped yet, so its entry exists, at least as a zombie.
  if (const auto stat = read_stat(child)) process.main = stat->id;
  process.pidfd = open_pidfd(child);
  process.output = std::move(output);
  return process;
}

Result<TrialProcess> start_trial_process(const TrialSpec& spec, const std::vector<int>& cpus,
                                         Environment environment) {
  auto streams = open_streams(spec);
  if (!streams) return tl::unexpected(streams.error());
  if (spec.terminal) environment.try_emplace("TERM", k_terminal_type);
  SpawnRequest request;
  request.argv = spec.argv;
  request.environment = std::move(environment);
  request.working_directory = spec.working_directory;
  request.stdin_fd = streams->input.get();
  request.output_fd = streams->written.get();

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
  return trial_process_of(*pid, std::move(streams->read));
}

}  // namespace steptune::local
