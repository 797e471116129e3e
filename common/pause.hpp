// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Pauses the calling thread in real time, at most an hour. For waiting for outside events: the end
/// of a process, more data in a file, a service's answer. Returns early if a signal arrives. Code
/// that can run under a virtual clock takes a `Clock` or a waiting function instead.
void pause_thread(double seconds);

/// Seconds between two checks of an outside event whose effect a person waits for, and between two
/// redraws of a terminal.
inline constexpr double k_poll_s = 0.25;

}  // namespace steptune
