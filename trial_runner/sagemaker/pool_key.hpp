// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "trial_runner/resources.hpp"
#include "trial_runner/sagemaker/job_settings.hpp"

namespace steptune {

/// Properties that must be equal if a job uses the warm pool of another job. Source: SageMaker
/// Developer Guide, "Train using SageMaker-managed warm pools", matching warm pools.
struct PoolKey {
  std::string role_arn;
  std::string instance_type;
  int instance_count = 1;
  int volume_gb = 0;
  std::vector<std::string> subnets;
  std::vector<std::string> security_group_ids;
  bool network_isolation = false;
  bool encrypt_traffic = false;
  auto operator<=>(const PoolKey&) const = default;
};

/// Returns the key of a job; nullopt for jobs that cannot use pools: heterogeneous clusters and
/// managed spot.
[[nodiscard]] std::optional<PoolKey> pool_key(const JobSettings& settings,
                                              const Resources& resources);

}  // namespace steptune
