// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trial_runner/cost/price_parts.hpp"

namespace steptune {

/// Input data of a job: an S3 prefix, or a mounted file system.
struct Channel {
  std::string name{};
  std::string s3_uri{};            ///< empty: a file system
  std::string input_mode{};        ///< `File`, `FastFile`, `Pipe`; empty: the job's
  std::string file_system_id{};    ///< `fs-...`
  std::string file_system_type{};  ///< `EFS`, `FSxLustre`
  std::string directory_path{};
  std::string content_type{};
  std::vector<std::string> instance_groups{};  ///< heterogeneous: groups that read it
};

/// What every job of a study shares. Names follow CreateTrainingJob (SageMaker API Reference).
struct JobSettings {
  std::string role_arn;
  std::string image;  ///< or `algorithm_name`
  std::string algorithm_name;
  std::string input_mode = "FastFile";
  std::vector<Channel> channels;
  std::string output_s3_uri;
  std::string checkpoint_s3_uri;  ///< empty: none
  /// Folder with the program, which then runs in it: the channel `code`. Empty: the image holds it.
  std::string code_s3_uri;
  std::vector<std::string> subnets;
  std::vector<std::string> security_group_ids;
  std::map<std::string, std::string> tags;
  int volume_gb = 30;  ///< one figure for all: another size is another warm pool
  bool network_isolation = false;
  bool encrypt_traffic = false;
  bool spot = false;
  double max_runtime_s = 3600.0;
  double max_wait_s = 7200.0;  ///< spot: waiting for capacity included
  /// What an hour of an instance costs, by type, and what spot is expected to be billed of it. Jobs
  /// carry it (`job_price.hpp`) where all their types are in it.
  std::map<std::string, PriceParts> price_parts{};
  double spot_share = 0.35;
};

}  // namespace steptune
