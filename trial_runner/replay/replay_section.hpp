// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/document/section.hpp"
#include "trial_runner/replay/replay_kind.hpp"

namespace steptune {

/// Returns the section's keys and the rules between them.
[[nodiscard]] const document::Section<ReplaySection>& replay_section();

}  // namespace steptune
