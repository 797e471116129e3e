// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "trial_runner/report.hpp"

namespace steptune {

/// Why a line that looked like a report was not taken, for people: what is wrong in which key.
using Rejection = std::string;

inline constexpr std::size_t k_max_report_line_bytes = std::size_t{16} << 10;
inline constexpr std::size_t k_max_metrics = 64;
inline constexpr std::size_t k_max_metric_name_bytes = 100;
inline constexpr double k_max_phase_s = 1e9;

/// Where a `[steptune]` line's document begins, or npos for any other line. Text before the mark
/// (timestamps, rank prefixes, an unfinished progress bar) is allowed.
[[nodiscard]] std::size_t find_steptune_document(std::string_view line);

/// Whether the document is an event of a hook, `{"v":1,"hook":{...}}`, and no report.
[[nodiscard]] bool is_hook_document(std::string_view document);

/// The event in a hook's document, as JSON text of at most `k_max_report_line_bytes`.
[[nodiscard]] tl::expected<std::string, Rejection> parse_hook_document(std::string_view document);

/// Reads the document of a `[steptune]` line: version 1 of the protocol in docs/reporting.md.
/// `received_s` of the report is left at 0.
[[nodiscard]] tl::expected<Report, Rejection> parse_steptune_document(std::string_view document);

}  // namespace steptune
