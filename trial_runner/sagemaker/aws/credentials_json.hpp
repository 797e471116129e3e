// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "trial_runner/sagemaker/aws/sigv4.hpp"

namespace steptune::aws {

/// Parses `2026-11-21T08:00:00Z` (fractions and `+00:00` allowed) into seconds since 1970.
[[nodiscard]] std::optional<double> parse_iso_time_s(std::string_view text);

/// Reads keys from the JSON of credential_process, the container endpoint or IMDS: AccessKeyId,
/// SecretAccessKey, SessionToken or Token, Expiration. Errors never quote the document.
[[nodiscard]] Result<Credentials> credentials_from_json(const std::string& text,
                                                        const std::string& source);

/// Reads keys from an STS Query response: the child elements of `<Credentials>`.
[[nodiscard]] Result<Credentials> credentials_from_sts_xml(const std::string& text,
                                                           const std::string& source);

}  // namespace steptune::aws
