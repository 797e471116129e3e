// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptune {

enum class DiagnosisStatus { ok, warn, fail };

/// One thing that `steptune doctor` has looked at.
struct Diagnosis {
  std::string name;  ///< persistent, for `--json`: `blas`, `cpu_governor`
  DiagnosisStatus status = DiagnosisStatus::ok;
  std::string found;   ///< what there is
  std::string advice;  ///< what to do; empty if nothing
};

}  // namespace steptune
