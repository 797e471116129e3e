// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

/// The keys of `runner` and of what stands in it.
namespace steptune::study::keys {

using Name = std::string_view;

inline constexpr std::array k_local_runner = {
    Name("type"),           Name("price_per_hour"), Name("instances"), Name("parallel"),
    Name("cpus_per_trial"), Name("gpus_per_trial"), Name("pin")};
inline constexpr std::array k_replay_runner = {
    Name("type"),   Name("price_per_hour"),   Name("instances"),          Name("parallel"),
    Name("table"),  Name("objective_column"), Name("seconds_per_sample"), Name("startup"),
    Name("noise"),  Name("instance_type"),    Name("instance_count"),     Name("instance_groups"),
    Name("prices"), Name("price_table")};
inline constexpr std::array k_sagemaker_runner = {Name("type"),
                                                  Name("region"),
                                                  Name("role"),
                                                  Name("image"),
                                                  Name("algorithm"),
                                                  Name("input_mode"),
                                                  Name("channels"),
                                                  Name("output"),
                                                  Name("checkpoints"),
                                                  Name("code"),
                                                  Name("subnets"),
                                                  Name("security_groups"),
                                                  Name("tags"),
                                                  Name("volume_gb"),
                                                  Name("network_isolation"),
                                                  Name("encrypt_traffic"),
                                                  Name("spot"),
                                                  Name("spot_share"),
                                                  Name("max_wait"),
                                                  Name("keep_alive"),
                                                  Name("poll"),
                                                  Name("instance_type"),
                                                  Name("instance_count"),
                                                  Name("instance_groups"),
                                                  Name("parallel"),
                                                  Name("prices"),
                                                  Name("price_table")};
inline constexpr std::array k_channel = {
    Name("s3"),          Name("input_mode"),       Name("content_type"), Name("instance_groups"),
    Name("file_system"), Name("file_system_type"), Name("path")};
inline constexpr std::array k_instance_group = {Name("name"), Name("instance_type"),
                                                Name("instance_count")};
inline constexpr std::array k_instance_price = {Name("usd_per_hour"), Name("vcpus"),
                                                Name("memory_gib"), Name("gpus")};

}  // namespace steptune::study::keys

namespace steptune::study::names {

using Name = std::string_view;

inline constexpr std::array k_runners = {Name("local"), Name("replay"), Name("sagemaker")};
inline constexpr std::array k_input_modes = {Name("File"), Name("FastFile"), Name("Pipe")};
inline constexpr std::array k_file_systems = {Name("EFS"), Name("FSxLustre")};

}  // namespace steptune::study::names
