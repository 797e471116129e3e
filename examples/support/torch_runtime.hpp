// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <dlfcn.h>
#include <torch/version.h>

#include "support/training_options.hpp"

namespace steptune::example {

/// Sets the number of threads that one operation may use.
inline void set_operation_threads(int threads) {
  at::set_num_threads(threads);
  // LibTorch passes the number on to OpenMP and MKL, but not to OpenBLAS, which has its own
  // threads.
  using SetThreads = void (*)(int);
  void* const symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
  if (symbol != nullptr) reinterpret_cast<SetThreads>(symbol)(threads);
}

/// Sets the precision of operations while it exists. With bf16, LibTorch chooses the operations
/// that are safe in bf16, like `torch.autocast("cpu")` in Python. Use it only for the forward pass
/// and the loss.
class AutocastScope {
 public:
  explicit AutocastScope(Precision precision) : enabled_(precision == Precision::bf16) {
    if (!enabled_) return;
    set_enabled(true);
    at::autocast::increment_nesting();
  }
  ~AutocastScope() {
    if (!enabled_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    set_enabled(false);
  }
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  static void set_enabled(bool enabled) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, enabled);
#else
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(enabled);
#endif
  }

  bool enabled_;
};

}  // namespace steptune::example
