// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune::local {

/// Seconds that helpers have to clean up after the main process. PyTorch's shared-memory manager
/// waits 2 s after its last client (manager.cpp, SHUTDOWN_TIMEOUT) before it removes that client's
/// files.
inline constexpr double k_clean_up_s = 3.0;
/// A process that outlives SIGKILL for this many seconds hangs in the kernel or belongs to another
/// user. A watchdog that is not ready after this many seconds hangs, too.
inline constexpr double k_give_up_s = 30.0;

}  // namespace steptune::local
