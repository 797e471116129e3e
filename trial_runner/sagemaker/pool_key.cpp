// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/pool_key.hpp"

#include <algorithm>

namespace steptune {

std::optional<PoolKey> pool_key(const JobSettings& settings, const Resources& resources) {
  if (resources.heterogeneous() || settings.spot) return std::nullopt;
  PoolKey key{settings.role_arn,          resources.instance_type, resources.instance_count,
              settings.volume_gb,         settings.subnets,        settings.security_group_ids,
              settings.network_isolation, settings.encrypt_traffic};
  std::sort(key.subnets.begin(), key.subnets.end());
  std::sort(key.security_group_ids.begin(), key.security_group_ids.end());
  return key;
}

}  // namespace steptune
