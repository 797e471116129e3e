// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "common/sha256.hpp"

/// Parts of a job's name. SageMaker accepts at most 63 characters, including the numbers of the
/// trial, the attempt and the launch.
namespace steptune {

/// Most characters of the study's name in the name of a job.
inline constexpr std::size_t k_most_study_characters = 24;

/// Returns eight digits that distinguish studies with the same name. `salt` is a text in which
/// these studies differ.
[[nodiscard]] inline std::string study_hash(const std::string& study, const std::string& salt) {
  return sha256_hex(study + '\n' + salt).substr(0, 8);
}

}  // namespace steptune
