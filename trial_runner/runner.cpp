// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/runner.hpp"

#include "trial_runner/machine_holder.hpp"

namespace steptune {
namespace {

class NoMachines final : public MachineHolder {
 public:
  [[nodiscard]] bool holds_machines() const override { return false; }
  [[nodiscard]] int backlog() const override { return 0; }
  [[nodiscard]] int open_places() const override { return 0; }
  [[nodiscard]] int trials_in_turn() const override { return 1; }
  [[nodiscard]] double expected_start_s(const Resources&) const override { return 0.0; }
  [[nodiscard]] std::vector<TrialKey> trials_without_machine() const override { return {}; }
  void expect_at_most(std::int64_t) override {}
  [[nodiscard]] Result<void> release(double) override { return {}; }
  [[nodiscard]] Result<std::string> detach() override { return std::string(); }
  [[nodiscard]] std::vector<UnusedTime> take_unused() override { return {}; }
  [[nodiscard]] std::vector<Notice> take_notices() override { return {}; }
};

}  // namespace

MachineHolder& Runner::machine_holder() {
  static NoMachines k_none;
  return k_none;
}

}  // namespace steptune
