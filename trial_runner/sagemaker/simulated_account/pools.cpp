// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/pools.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace steptune::simulated {
namespace {

std::vector<std::string> sorted_texts(const Json& object, const char* key) {
  auto texts = object.value(key, std::vector<std::string>{});
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace

std::optional<PoolMatch> pool_match(const Json& input) {
  const Json& resources = input.at("ResourceConfig");
  if (resources.contains("InstanceGroups") || input.value("EnableManagedSpotTraining", false)) {
    return std::nullopt;
  }
  const Json network = input.value("VpcConfig", Json::object());
  return PoolMatch{input.at("RoleArn").get<std::string>(),
                   resources.at("InstanceType").get<std::string>(),
                   resources.value("InstanceCount", 1),
                   resources.value("VolumeSizeInGB", 0),
                   resources.value("VolumeKmsKeyId", ""),
                   sorted_texts(network, "Subnets"),
                   sorted_texts(network, "SecurityGroupIds"),
                   input.value("EnableInterContainerTrafficEncryption", false),
                   input.value("EnableNetworkIsolation", false)};
}

WarmPool::WarmPool(PoolMatch match, double available_s, double keep_alive_s)
    : match_(std::move(match)), available_s_(available_s), expires_s_(available_s + keep_alive_s) {}

std::string WarmPool::status(double now_s) const {
  if (ended_s_) return reused_by_.empty() ? "Terminated" : "Reused";
  return now_s < available_s_ ? "InUse" : "Available";
}

bool WarmPool::available(double now_s) const {
  return kept() && now_s >= available_s_;
}

double WarmPool::retained_s(double now_s) const {
  return std::max(0.0, ended_s_.value_or(now_s) - available_s_);
}

void WarmPool::reuse(const std::string& job, double now_s) {
  reused_by_ = job;
  ended_s_ = now_s;
}

void WarmPool::terminate(double now_s) {
  ended_s_ = now_s;
}

void WarmPool::set_keep_alive(double keep_alive_s, double now_s) {
  expires_s_ = available_s_ + keep_alive_s;
  if (keep_alive_s <= 0.0 || expires_s_ <= now_s) terminate(now_s);
}

Json WarmPool::describe(double now_s) const {
  Json description = {{"Status", status(now_s)},
                      {"ResourceRetainedBillableTimeInSeconds", std::llround(retained_s(now_s))}};
  if (!reused_by_.empty()) description["ReusedByJob"] = reused_by_;
  return description;
}

}  // namespace steptune::simulated
