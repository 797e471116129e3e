// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"

namespace steptune::simulated {

/// Properties that must be equal if a job reuses another job's machines. Source: SageMaker
/// Developer Guide, "Train using SageMaker-managed warm pools". Read from the request,
/// independently of the client's `PoolKey`, as a check.
struct PoolMatch {
  std::string role_arn;
  std::string instance_type;
  int instance_count = 0;
  int volume_gb = 0;
  std::string volume_key;
  std::vector<std::string> subnets;
  std::vector<std::string> security_groups;
  bool encrypted_traffic = false;
  bool network_isolation = false;
  auto operator<=>(const PoolMatch&) const = default;
};

/// Returns nullopt for requests that cannot use pools: heterogeneous clusters and managed spot.
[[nodiscard]] std::optional<PoolMatch> pool_match(const Json& create_training_job_input);

/// Machines that an ended job leaves. The account bills them while they wait for the next job.
/// Times are on the account's clock.
class WarmPool {
 public:
  WarmPool(PoolMatch match, double available_s, double keep_alive_s);

  [[nodiscard]] const PoolMatch& match() const { return match_; }
  /// Returns `InUse` until another job can use it, then `Available`, `Reused` or `Terminated`.
  [[nodiscard]] std::string status(double now_s) const;
  [[nodiscard]] bool available(double now_s) const;
  /// True if the pool still holds machines, even if it is not available yet.
  [[nodiscard]] bool kept() const { return !ended_s_; }
  [[nodiscard]] double expires_s() const { return expires_s_; }
  [[nodiscard]] double retained_s(double now_s) const;
  [[nodiscard]] const std::string& reused_by() const { return reused_by_; }

  void reuse(const std::string& job, double now_s);
  void terminate(double now_s);
  /// Sets how long the pool is kept after it became available. If that time is 0 or already over,
  /// the pool ends.
  void set_keep_alive(double keep_alive_s, double now_s);

  /// Returns the WarmPoolStatus of the job that left the pool.
  [[nodiscard]] Json describe(double now_s) const;

 private:
  PoolMatch match_;
  double available_s_ = 0.0;
  double expires_s_ = 0.0;
  std::optional<double> ended_s_;
  std::string reused_by_;
};

}  // namespace steptune::simulated
