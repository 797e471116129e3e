// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/allocation.hpp"

#include <fmt/format.h>

#include "common/sha256.hpp"
#include "trial_runner/slurm/submission.hpp"

namespace steptune::slurm {

std::string allocation_kind(const AllocationSpec& requested, const SlurmOptions& options) {
  const Resources held = to_resources(requested);
  const std::string text =
      fmt::format("{} {}\n{} {} {} {:.0f}", held.instance_count, held.instance_type,
                  held_tasks_per_node(options), fixed_cpus_per_task(options).value_or(0),
                  options.exclusive, options.default_time_s);
  return sha256_hex(text).substr(0, 8);
}

Allocation former_allocation(const QueueRow& row, const std::string& prefix, const Clock& clock) {
  Allocation allocation;
  allocation.name = row.name;
  allocation.kind =
      row.name.substr(prefix.size(), row.name.find('.', prefix.size()) - prefix.size());
  allocation.state = AllocationState::pending;
  allocation.id = row.id;
  allocation.requested_s = clock.now_s();
  allocation.submit_wall_s = row.submit_wall_s.value_or(clock.wall_time_s());
  allocation.former = true;
  return allocation;
}

std::vector<std::string> cancel_command(const Allocation& allocation) {
  return {"scancel", "--name=" + allocation.name, allocation.id};
}

}  // namespace steptune::slurm
