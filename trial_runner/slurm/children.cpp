// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/children.hpp"

#include <cerrno>

#include <fmt/format.h>

#include "common/child_process.hpp"
#include "common/system_reason.hpp"

namespace steptune::slurm {

Result<pid_t> start_child(const std::vector<std::string>& argv,
                          const std::vector<std::string>& environment, const Streams& streams) {
  ChildRequest request;
  request.argv = argv;
  request.environment = environment;
  request.scope = ChildScope::own_session;
  request.in = streams.in;
  request.out = streams.out;
  request.err = streams.err;
  const auto pid = steptune::start_child(request);
  if (pid) return *pid;
  const int error = pid.error();
  return fail(error == EAGAIN || error == ENOMEM ? ErrorKind::unavailable : ErrorKind::runner,
              fmt::format("cannot start: {}", system_reason(error)), argv.front());
}

}  // namespace steptune::slurm
