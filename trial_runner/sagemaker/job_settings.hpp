// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trial_runner/cost/price_parts.hpp"

namespace steptune {

/// Input data of a job: an S3 prefix or a mounted file system.
struct Channel {
  std::string name{};
  std::string s3_uri{};            ///< empty: a file system
  std::string input_mode{};        ///< `File`, `FastFile`, `Pipe`; empty: the job's input mode
  std::string file_system_id{};    ///< `fs-...`
  std::string file_system_type{};  ///< `EFS`, `FSxLustre`
  std::string directory_path{};
  std::string content_type{};
  /// Groups of a heterogeneous cluster that read this channel.
  std::vector<std::string> instance_groups{};
};

/// Settings that all jobs of a study share. Names follow CreateTrainingJob (SageMaker API
/// Reference).
struct JobSettings {
  std::string role_arn;
  std::string image;  ///< empty: `algorithm_name` is set
  std::string algorithm_name;
  std::string input_mode = "FastFile";
  std::vector<Channel> channels;
  std::string output_s3_uri;
  std::string checkpoint_s3_uri;  ///< empty: none
  /// S3 folder with the program. The program runs in the instance's copy of this folder (channel
  /// `code`). Empty: the image contains the program.
  std::string code_s3_uri;
  std::vector<std::string> subnets;
  std::vector<std::string> security_group_ids;
  std::map<std::string, std::string> tags;
  int volume_gb = 30;  ///< equal for all jobs, because warm pools require equal volumes
  bool network_isolation = false;
  bool encrypt_traffic = false;
  bool spot = false;
  double max_runtime_s = 3600.0;
  double max_wait_s = 7200.0;  ///< longest run time of a spot job, with the wait for capacity
  /// Price of an instance-hour by type, and the expected price of spot as a share of it. A job
  /// contains its price (`job_price.hpp`) if all its types are listed here.
  std::map<std::string, PriceParts> price_parts{};
  double spot_share = 0.35;
};

}  // namespace steptune
