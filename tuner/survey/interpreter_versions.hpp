// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/environment.hpp"
#include "common/machine/description.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Returns versions in the Python environment of a study's own command on this machine: `python`,
/// and the installed libraries `torch`, `cuda`, `cudnn`, `jax`, `tensorflow`, `keras`, `numpy`.
/// Asks the interpreter, without importing these libraries, and waits some seconds at most. Empty
/// if the command starts no Python, trials run elsewhere, or PyTorch's hook reports the libraries
/// that the program loads.
///
/// Writes the answer to a file in `folder` and removes it.
[[nodiscard]] MachineDescription interpreter_versions(const StudySpec& study, const Clock& clock,
                                                      const Environment& environment,
                                                      const std::filesystem::path& folder);

/// Returns the file that a shell would start for `word`; empty if there is none.
[[nodiscard]] std::filesystem::path found_program(const std::string& word,
                                                  const std::filesystem::path& folder,
                                                  const std::string& path);

/// Returns the Python interpreter that runs `argv`. This is the first word, or the interpreter in
/// the first line of the script that this word names. Empty if that is not Python.
[[nodiscard]] std::string python_of(const std::vector<std::string>& argv,
                                    const std::filesystem::path& folder, const std::string& path);

}  // namespace steptune
