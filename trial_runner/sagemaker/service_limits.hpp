// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "common/units.hpp"

/// Limits of CreateTrainingJob (SageMaker API Reference).
namespace steptune {

inline constexpr double k_longest_job_s = 28.0 * k_day_s;         ///< MaxRuntime, MaxWaitTime
inline constexpr double k_longest_keep_alive_s = 6.0 * k_hour_s;  ///< KeepAlivePeriodInSeconds
inline constexpr double k_largest_volume_gb = 16'384.0;           ///< VolumeSizeInGB
inline constexpr std::size_t k_most_channels = 20;                ///< members of InputDataConfig
inline constexpr std::size_t k_max_tags = 50;                     ///< members of Tags
inline constexpr std::size_t k_most_subnets = 16;                 ///< members of Subnets
inline constexpr std::size_t k_most_security_groups = 5;          ///< members of SecurityGroupIds

/// Member of ContainerArguments, and name in HyperParameters.
inline constexpr std::size_t k_longest_word = 256;
inline constexpr std::size_t k_longest_variable = 512;         ///< name or value of Environment
inline constexpr std::size_t k_longest_hyperparameter = 2500;  ///< value of HyperParameters
/// Members of ContainerArguments, of Environment, and of HyperParameters.
inline constexpr std::size_t k_most_members = 100;

/// Seconds by which the service's answers may lag: it may not know a job that it has accepted, and
/// log events may appear late. Not documented; chosen generously.
inline constexpr double k_longest_lag_s = 60.0;

}  // namespace steptune
