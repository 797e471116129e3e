// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/output/waiting_ranks.hpp"

#include <array>
#include <string_view>

#include "trial_runner/output/mentions.hpp"

namespace steptune {
namespace {

/// Messages of PyTorch's watchdog of NCCL, gloo, PyTorch's stores and barrier, and XLA. They are so
/// long because programs also time out while they wait for files or servers.
constexpr std::array<std::string_view, 8> k_waiting_phrases{
    "Watchdog caught collective operation timeout",
    "ms for recv operation to complete",
    "ms for send operation to complete",
    "Timeout waiting for key: ",
    "wait timeout after ",
    "seconds waiting for clients",
    "failed to pass monitoredBarrier",
    "Termination timeout for `",
};

}  // namespace

bool ended_with_waiting_ranks(const OutputTail& tail) {
  return mentions(tail.since_progress(), k_waiting_phrases);
}

}  // namespace steptune
