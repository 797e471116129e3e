// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Lets the thread wait in real time for an outside event: the end of a process, more data in a
/// file, a service's answer. Returns early if a signal arrives. Code that can run under a virtual
/// clock takes a `Clock` or a waiting function instead.
void pause_thread(double seconds);

}  // namespace steptune
