// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Signals that have asked this program to end, as far as a handler of its own counts them.
[[nodiscard]] int interrupts();

/// For that handler alone: safe in one.
void count_interrupt();
void forget_interrupts();

}  // namespace steptune
