// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/history/history.hpp"

namespace steptune {

/// This machine, and which Steptune tunes on it: what a history keeps of a session.
[[nodiscard]] MachineDescription tuner_machine();

}  // namespace steptune
