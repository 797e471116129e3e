// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "trial_runner/sagemaker/aws/sigv4.hpp"

namespace steptune::aws {

/// Seconds since 1970 of `2026-11-21T08:00:00Z` (fractions and `+00:00` allowed).
[[nodiscard]] std::optional<double> parse_iso_time_s(std::string_view text);

/// Keys from the JSON of credential_process, the container endpoint and IMDS: AccessKeyId,
/// SecretAccessKey, SessionToken or Token, Expiration. Errors never quote the document.
[[nodiscard]] Result<Credentials> credentials_from_json(const std::string& text,
                                                        const std::string& source);

/// Keys from an STS Query response, whose `<Credentials>` element has them as child elements.
[[nodiscard]] Result<Credentials> credentials_from_sts_xml(const std::string& text,
                                                           const std::string& source);

}  // namespace steptune::aws
