// SPDX-License-Identifier: Apache-2.0
// Entry point of libFuzzer; STEPTUNE_FUZZ_TARGET names the function.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  steptune::fuzz::STEPTUNE_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
