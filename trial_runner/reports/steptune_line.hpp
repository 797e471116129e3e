// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "trial_runner/report.hpp"

namespace steptune {

/// Reason for rejecting a line that looked like a report, for people: the fault and the key that
/// has it.
using Rejection = std::string;

inline constexpr std::size_t k_max_report_line_bytes = std::size_t{16} << 10;
inline constexpr std::size_t k_max_metrics = 64;
inline constexpr std::size_t k_max_metric_name_bytes = 100;
inline constexpr double k_max_phase_s = 1e9;
inline constexpr double k_max_count = 1e18;  ///< steps or samples

/// Returns the position of a `[steptune]` line's document, or npos for other lines. The mark may
/// follow other text (timestamps, rank prefixes, an unfinished progress bar).
[[nodiscard]] std::size_t find_steptune_document(std::string_view line);

/// True if the document is a hook's event, `{"v":1,"hook":{...}}`, rather than a report.
[[nodiscard]] bool is_hook_document(std::string_view document);

/// Returns the event in a hook's document, as JSON text of at most `k_max_report_line_bytes`.
[[nodiscard]] tl::expected<std::string, Rejection> parse_hook_document(std::string_view document);

/// Parses the document of a `[steptune]` line as version 1 of the protocol (docs/reporting.md).
/// Leaves the report's `received_s` at 0.
[[nodiscard]] tl::expected<Report, Rejection> parse_steptune_document(std::string_view document);

}  // namespace steptune
