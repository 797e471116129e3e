// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/init/program_option.hpp"

namespace steptune {

/// The Python script that a command runs, in `folder`: the word that names it (`program_words`), or
/// the file of the module after `-m`. Nothing where there is no such file.
[[nodiscard]] std::optional<std::filesystem::path> python_script_of(
    const std::vector<std::string>& argv, const std::filesystem::path& folder);

/// What the text of a script declares, without running it: calls of `add_argument` (argparse),
/// `option` (click) and `DEFINE_integer` and its like (absl) whose names and defaults are literals;
/// and, where the script takes its settings by `configurator.py` as nanoGPT does, its top-level
/// assignments of literals as options `--name=value`. Any bytes may be given.
[[nodiscard]] std::vector<ProgramOption> options_of_source(std::string_view source,
                                                           const std::string& file_name);

/// Top-level assignments of literals of a configuration that is written in Python, such as
/// nanoGPT's `config/train_gpt2.py`: the last one where a name stands twice. Names as they are
/// assigned. None of what has functions, classes or loops: that is no configuration.
[[nodiscard]] std::vector<ProgramOption> settings_of_source(std::string_view source,
                                                            const std::string& file_name);

/// Numbers that tell how long a script trains: those that are assigned once, to which an outermost
/// loop counts that trains (`max_iters = 5000` above `for iter in range(max_iters)`), named as they
/// are assigned. Else the number that such a loop counts to itself (`range(3)`), called `epochs` or
/// `steps`. And the rounds of a call that boosts: `num_boost_round=2000`.
[[nodiscard]] std::vector<ProgramOption> loop_bounds_of(std::string_view source,
                                                        const std::string& file_name);

}  // namespace steptune
