// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/space/expression.hpp"
#include "tuner/init/native_runtimes.hpp"
#include "tuner/init/study_builder.hpp"

namespace steptune {

/// Adds variables that libraries in the program read: numbers of threads, if the study has none
/// yet, and settings of the memory allocator. Records variables that cannot be varied, and why.
void add_environment_knobs(const NativeRuntimes& runtimes, const Facts& machine,
                           StudyBuilder& study);

}  // namespace steptune
