// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "common/document/section.hpp"
#include "trial_runner/sagemaker/job_settings.hpp"

namespace steptune {

/// Returns the type of strings that are not empty.
[[nodiscard]] document::Type<std::string> named_string(std::size_t max_bytes = 4096);
/// Accepts any text, because `check_training_jobs` checks SageMaker's rules for S3 URIs later.
[[nodiscard]] document::Type<std::string> s3_uri();
[[nodiscard]] document::Type<std::string> file_system_id();
[[nodiscard]] document::Type<std::string> input_mode();
/// Returns the type of regions, such as `us-east-1`.
[[nodiscard]] document::Type<std::string> region();

/// Returns the section for a channel of input data: an object, or a string with an S3 URI.
[[nodiscard]] const document::Section<Channel>& channel_section();

}  // namespace steptune
