// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/output/waiting_ranks.hpp"

#include <algorithm>
#include <array>

namespace steptune {
namespace {

/// Messages of PyTorch's watchdog of NCCL, gloo, PyTorch's store and barrier, NCCL's network
/// plugins, and XLA.
constexpr std::array<std::string_view, 7> k_waiting_phrases{
    "collective operation timeout", "Timed out waiting",
    "Timeout waiting for",          "wait timeout after",
    "seconds waiting for clients",  "failed to pass monitoredBarrier",
    "Termination timeout for",
};

}  // namespace

bool reports_waiting_ranks(std::string_view output) {
  return std::ranges::any_of(k_waiting_phrases, [output](std::string_view phrase) {
    return output.find(phrase) != std::string_view::npos;
  });
}

bool ended_with_waiting_ranks(const OutputTail& tail) {
  return reports_waiting_ranks(tail.since_progress());
}

}  // namespace steptune
