// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Lets the thread wait for real time, for what only real time brings: the end of a process, more
/// of a file, an answer of a service. Returns early when a signal arrives. Whatever could run under
/// a virtual clock is given a `Clock` or a way to wait instead.
void pause_thread(double seconds);

}  // namespace steptune
