// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"

namespace steptune {

/// Returns the candidate with the smallest edit distance to `name`. Returns nullopt if `name` is
/// unlikely to be a typing error: the distance exceeds both one edit and a third of the name's
/// length.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view name,
                                                      std::span<const std::string> candidates);

/// Returns "; did you mean "workers"?" or an empty text.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       std::span<const std::string> candidates);

/// Value of a length limit that means "do not cut", for texts such as file names and reasons.
inline constexpr std::size_t k_any_length = std::numeric_limits<std::size_t>::max();

/// Most elements of a long list that a text for people shows; it counts the rest.
inline constexpr std::size_t k_shown_elements = 8;

/// Returns `text` as one printable line of at most `max_bytes`, cut at a character boundary. Joins
/// lines by ` | `, removes ANSI sequences and control characters (a tab becomes a blank), and
/// replaces invalid UTF-8 by U+FFFD.
[[nodiscard]] std::string printable_line(std::string_view text, std::size_t max_bytes = 400);
/// Makes each line of a text printable; keeps the lines and does not cut them.
[[nodiscard]] std::string printable_lines(std::string_view text);
/// Returns the lines of a text without their ends. A text that ends with a newline has no line
/// after it.
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);

/// True if `name`, which comes from outside, is safe as a file name: at most 255 bytes of UTF-8
/// without `/`, control characters or a leading `.`.
[[nodiscard]] bool is_file_name(std::string_view name);

/// Returns `text` with its ASCII letters in lower case, in any locale.
[[nodiscard]] std::string lower_case(std::string_view text);

/// Returns the number that makes up the whole of `text`, in any locale. Returns nullopt for any
/// other text, NaN, infinities and numbers that do not fit.
[[nodiscard]] std::optional<double> parse_finite(std::string_view text);
/// Parses a share: `5%` and `0.05` are 0.05. Does not check the range.
[[nodiscard]] std::optional<double> parse_share(std::string_view text);

/// Parses `90`, `250ms`, `90s`, `30m`, `1.5h`, `2d` or sums such as `1h30m` into seconds.
[[nodiscard]] Result<double> parse_duration_s(std::string_view text);

/// Parses a size in bytes: `500MB`, `1.5 GB`, `8GiB`, `64g`, `1e9`. A prefix without `i` is a power
/// of 1000. Returns nullopt for any other text.
[[nodiscard]] std::optional<double> parse_bytes(std::string_view text);

/// Formats a duration: `850 ms`, `4.2 s`, `14 min 20 s`, `41.2 h`, `12.5 d`; `-` if not finite.
[[nodiscard]] std::string format_duration(double seconds);

/// Formats an amount: `$0.29`, `$49.93`, `$0.0041`, `-$0.29`; `-` if not finite. Less than a
/// billionth counts as zero.
[[nodiscard]] std::string format_usd(double usd);

/// Formats a share: `12 %`, `1.8 %`, and with two significant digits below 0.1 %, as in `0.012 %`;
/// `-` if not finite.
[[nodiscard]] std::string format_percent(double share);

}  // namespace steptune
