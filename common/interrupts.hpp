// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Returns the number of signals that have asked this program to end, since the last
/// `forget_interrupts`. The program's signal handler counts them.
[[nodiscard]] int interrupts();

/// Adds one to the count. Async-signal-safe; only the signal handler calls it.
void count_interrupt();
void forget_interrupts();

}  // namespace steptune
