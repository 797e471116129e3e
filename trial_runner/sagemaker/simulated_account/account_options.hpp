// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/sagemaker/simulated_account/faults.hpp"
#include "trial_runner/sagemaker/simulated_account/request_rates.hpp"

namespace steptune::simulated {

/// Durations of a job's stages, in seconds. The defaults equal the emulator's
/// (tests/sagemaker_emulator/jobs.py). A job gets new machines after 150 s, or warm machines after
/// 20 s. Then come the downloads: the data, by input mode, and the image on new machines.
struct StageTimes {
  double cold_start_s = 150.0;
  double warm_start_s = 20.0;
  std::map<std::string, double> download_s{{"File", 40.0}, {"FastFile", 3.0}, {"Pipe", 3.0}};
  double image_download_s = 30.0;  ///< part of the stage `Training`; 0 on warm machines
  double upload_s = 10.0;          ///< skipped after failures
  double stop_grace_s = 120.0;     ///< from SIGTERM to SIGKILL
  double pool_ready_s = 2.0;       ///< from a job's end until its pool is available
  double jitter = 0.0;             ///< largest random change of starts and downloads, as a share
};

struct LogTimes {
  double delay_s = 5.0;  ///< time from the printing of a line until it can be read
  /// Largest additional random delay of a line. A later line may then be readable first.
  double jitter_s = 0.0;
  int empty_page_every = 3;  ///< every n-th page is empty although more pages follow; 0: none
  int page_size = 1000;
};

/// An account in one region. Quotas are numbers of instances by type; `*` means all types without
/// an entry.
struct AccountOptions {
  std::string region = "us-east-1";
  std::string account_id = "123456789012";
  std::uint64_t seed = 0;
  double request_latency_s = 0.08;
  StageTimes stages;
  LogTimes logs;
  /// Seconds from the end of a CloudWatch minute until its metrics can be read.
  double metric_delay_s = 60.0;
  /// Quota of instances for running jobs and idle pools together.
  std::map<std::string, int> training_quota{{"*", 4}};
  /// Quota of instances in warm pools. Without a quota (as in new accounts), the account accepts a
  /// keep-alive period but keeps no pool.
  std::map<std::string, int> warm_pool_quota{};
  std::map<std::string, double> requests_per_second = account_request_rates();
  /// Share of a managed spot job's time that is billed. Real accounts have billed a share of 0.37.
  double spot_billed_share = 1.0;
  std::map<std::string, InstanceType> instances{};  ///< core counts, for utilisation metrics
  std::vector<Fault> faults{};
  double clock_ahead_s = 0.0;  ///< the service's wall clock minus the client's
};

}  // namespace steptune::simulated
