// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptune {

enum class DiagnosisStatus { ok, warn, fail };

/// One check of `steptune doctor`.
struct Diagnosis {
  std::string name;  ///< persistent, printed by `--json`: `blas`, `cpu_governor`
  DiagnosisStatus status = DiagnosisStatus::ok;
  std::string found;   ///< the state that the check found
  std::string advice;  ///< what the user should do; empty if there is nothing to do
};

}  // namespace steptune
