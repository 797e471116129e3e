// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/error.hpp"

namespace steptune {

/// The candidate closest to `name` by edit distance, if any is close enough to be a likely slip
/// (at most a third of the name's length, at least one edit).
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view name,
                                                      std::span<const std::string> candidates);

/// "; did you mean "workers"?" or an empty text.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       std::span<const std::string> candidates);

/// For what must not be cut: names of files, what was said of a decision.
inline constexpr std::size_t k_any_length = std::numeric_limits<std::size_t>::max();

/// `text` as one printable line: several lines with ` | ` between them, control characters and ANSI
/// sequences removed, invalid UTF-8 replaced by U+FFFD, cut to `max_bytes` at a character boundary.
[[nodiscard]] std::string printable_line(std::string_view text, std::size_t max_bytes = 400);
/// The same of each line of a text of any length; lines stay apart.
[[nodiscard]] std::string printable_lines(std::string_view text);

/// Whether a file in a folder may be called so by what others say: at most 255 bytes of UTF-8
/// without `/` and control characters, no `.` in front.
[[nodiscard]] bool is_file_name(std::string_view name);

/// ASCII letters in lower case, whatever the locale.
[[nodiscard]] std::string lower_case(std::string_view text);

/// A number that fills the whole of `text`, read without regard to locale; nothing for anything
/// else, including NaN, infinities and numbers that do not fit.
[[nodiscard]] std::optional<double> parse_finite(std::string_view text);

/// `90`, `90s`, `30m`, `1.5h`, `2d` or sums such as `1h30m`, in seconds.
[[nodiscard]] Result<double> parse_duration_s(std::string_view text);

/// Bytes: `500MB`, `1.5 GB`, `8GiB`, `64g`, `1e9`; a prefix without `i` counts by 1000. Nothing for
/// anything else.
[[nodiscard]] std::optional<double> parse_bytes(std::string_view text);

/// `850 ms`, `4.2 s`, `14 min 20 s`, `41.2 h`, `12.5 d`: for people.
[[nodiscard]] std::string format_duration(double seconds);

/// `$0.29`, `$49.93`, `$0.0041`, `-$0.29`: for people. Less than a billionth is nothing.
[[nodiscard]] std::string format_usd(double usd);

/// A share as `1.8 %`, with one digit below 10 % and none above; `-` where not finite.
[[nodiscard]] std::string format_percent(double share);

}  // namespace steptune
