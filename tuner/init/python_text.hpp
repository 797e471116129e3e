// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/init/program_option.hpp"

namespace steptune {

// Parses a Python program's text without executing it. For python_source.cpp and python_loops.cpp.

/// Returns the length of the string literal at the start of `text`; 0 if there is none.
[[nodiscard]] std::size_t string_length(std::string_view text);

[[nodiscard]] std::string trimmed(const std::string& text);

struct Literal {
  std::string text;
  OptionKind kind = OptionKind::unknown;
};

/// Parses a number, string or boolean, or a product of whole numbers.
[[nodiscard]] std::optional<Literal> literal_of(const std::string& expression);

/// Removes comments and the contents of triple-quoted strings, which are mostly documentation.
/// Keeps line breaks.
[[nodiscard]] std::string code_of(std::string_view source);

/// Choice between several assignments to one name. In a program, the first one counts, because
/// settings come before the code that uses them.
enum class Repeated { first, last };

enum class Depth { top_level, any };

/// Returns assignments to plain names as options `--name=value`. Only literals have a value.
[[nodiscard]] std::vector<ProgramOption> assignments_in(std::string_view source, Repeated repeated,
                                                        Depth depth = Depth::top_level);

/// Turns the option `--max_iters` of `assignments_in` into the setting `max_iters` of a file.
[[nodiscard]] ProgramOption as_setting(ProgramOption option, const std::string& file_name);

}  // namespace steptune
