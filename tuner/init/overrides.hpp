// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tuner/init/program_facts.hpp"

namespace steptune {

/// Returns the program's options and the settings that words of the command override. Such words
/// are `a.b=32` and `+a.b=32` (Hydra, OmegaConf), and pairs such as `SOLVER.IMS_PER_BATCH 16`
/// (Detectron2). `--a.b 32` also overrides a setting if a file that the command names has `a.b`.
/// These settings have `stands_in_command` set.
[[nodiscard]] std::vector<ProgramOption> with_overrides(std::vector<ProgramOption> options,
                                                        const ProgramFacts& program);

}  // namespace steptune
