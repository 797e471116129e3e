// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/document/section.hpp"
#include "trial_runner/replay/replay_kind.hpp"

namespace steptune {

/// The section's keys and the rules between them.
[[nodiscard]] const document::Section<ReplaySection>& replay_section();

}  // namespace steptune
