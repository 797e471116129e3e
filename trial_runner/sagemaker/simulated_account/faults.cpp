// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/faults.hpp"

namespace steptune::simulated {
namespace {

bool befalls_requests(FaultKind kind) {
  return kind <= FaultKind::truncate;
}

}  // namespace

FaultScript::FaultScript(std::vector<Fault> script, std::uint64_t seed)
    : script_(std::move(script)), rng_(seed, "rehearsal_faults") {}

std::optional<FaultKind> FaultScript::for_request(const std::string& operation,
                                                  const std::string& body) {
  const int count = ++requests_[operation];
  for (Fault& fault : script_) {
    if (!befalls_requests(fault.kind)) continue;
    if (!fault.operation.empty() && fault.operation != operation) continue;
    if (fault.probability) {
      if (rng_.uniform() < *fault.probability) return fault.kind;
    } else if (fault.nth) {
      if (count >= *fault.nth && count < *fault.nth + fault.times) return fault.kind;
    } else if (fault.times > 0 && body.find(fault.contains) != std::string::npos) {
      --fault.times;
      return fault.kind;
    }
  }
  return std::nullopt;
}

std::optional<Fault> FaultScript::for_job(const std::string& job, FaultKind kind) {
  for (Fault& fault : script_) {
    if (fault.kind != kind || job.find(fault.job) == std::string::npos) continue;
    if (fault.probability) {
      if (rng_.uniform() < *fault.probability) return fault;
    } else if (fault.times > 0) {
      --fault.times;
      return fault;
    }
  }
  return std::nullopt;
}

}  // namespace steptune::simulated
