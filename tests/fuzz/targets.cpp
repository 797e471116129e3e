// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.hpp"

#include <array>

namespace steptune::fuzz {

std::span<const Target> targets() {
  static constexpr std::array k_targets{
      Target{"study", run_study},
      Target{"report_lines", run_report_lines},
      Target{"steptune_lines", run_steptune_lines},
      Target{"recorded_table", run_recorded_table},
      Target{"aws_answers", run_aws_answers},
      Target{"aws_config", run_aws_config},
      Target{"config_file", run_config_file},
  };
  return k_targets;
}

}  // namespace steptune::fuzz
