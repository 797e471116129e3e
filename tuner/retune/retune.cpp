// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/retune.hpp"

#include "tuner/retune/retuning.hpp"

namespace steptune {

Result<Night> retune(const RetuneParts& parts, const RetuneOptions& options) {
  return Retuning(parts, options).run();
}

}  // namespace steptune
