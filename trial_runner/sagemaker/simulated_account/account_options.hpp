// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/secret.hpp"
#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/sagemaker/simulated_account/faults.hpp"
#include "trial_runner/sagemaker/simulated_account/request_rates.hpp"

namespace steptune::simulated {

/// How long the stages of a job take. The defaults are those of the emulator
/// (tests/sagemaker_emulator/jobs.py): a first job is under way after 150 s, a warm one after 20 s,
/// plus the download of its input mode.
struct StageTimes {
  double cold_start_s = 150.0;
  double warm_start_s = 20.0;
  std::map<std::string, double> download_s{{"File", 40.0}, {"FastFile", 3.0}, {"Pipe", 3.0}};
  double image_download_s = 30.0;  ///< inside `Training`, on machines that are not warm
  double upload_s = 10.0;          ///< not after failures
  double stop_grace_s = 120.0;     ///< between SIGTERM and SIGKILL
  double pool_ready_s = 2.0;       ///< a job's end to its pool's being available
  double jitter = 0.0;  ///< starts and downloads differ by up to this share, drawn for each job
};

struct LogTimes {
  double delay_s = 5.0;      ///< a line's writing to its being found
  double jitter_s = 0.0;     ///< up to so much later, drawn for each line: they come out of order
  int empty_page_every = 3;  ///< pages that are empty although more follows; 0: none
  int page_size = 1000;
};

/// An identity that may sign requests.
struct SigningKey {
  Secret secret;
  Secret session_token;  ///< empty: a long-term key
  std::optional<double> expiration_wall_s;
};

/// An account and its region. Quotas are instances by type, `*` for types that are not named.
struct AccountOptions {
  std::string region = "us-east-1";
  std::string account_id = "123456789012";
  std::uint64_t seed = 0;
  double request_latency_s = 0.08;
  StageTimes stages;
  LogTimes logs;
  double metric_delay_s = 60.0;  ///< from the end of a CloudWatch minute until it is found
  /// Of jobs and waiting pools together.
  std::map<std::string, int> training_quota{{"*", 4}};
  /// Without it a keep-alive period is accepted and does nothing, as in new accounts.
  std::map<std::string, int> warm_pool_quota{};
  std::map<std::string, double> requests_per_second = account_request_rates();
  /// Share of a managed spot job's time that is billed; real accounts saw 0.37.
  double spot_billed_share = 1.0;
  std::map<std::string, InstanceType> instances{};  ///< cores, for utilisation metrics
  std::vector<Fault> faults{};
  /// By access key id. Empty: signatures are not looked at.
  std::map<std::string, SigningKey> keys{};
  double clock_ahead_s = 0.0;  ///< the service's wall clock less the client's
};

}  // namespace steptune::simulated
