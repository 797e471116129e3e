// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <variant>

#include "tests/contract/python_bench.hpp"
#include "trial_runner/live/live_runner.hpp"

namespace steptune::contract {
namespace {

/// Started with a channel it is the shared program, and speaks as PyTorch's hook does
/// (docs/hooks-protocol.md, "Switching while the program runs"); else it reports and ends.
constexpr const char* k_live_program = R"(
import json
import os
import socket
import sys
import time


def write_pid(path):
    with open(path + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(path + ".new", path)


request = os.environ.get("STEPTUNE_PYTORCH")
if request is None:
    write_pid(sys.argv[1])
    print('[steptune] {"v":1,"step":1}')
    print('[steptune] {"v":1,"step":2}', flush=True)
    sys.exit(0 if sys.argv[2] == "quick" else "has no channel")

write_pid(os.path.join(os.path.dirname(sys.argv[1]), "shared.pid"))
channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
channel.connect(json.loads(request)["channel"])


def say(message):
    channel.send(json.dumps(message).encode())


say({"v": 1, "hello": {"pid": os.getpid(), "rank": 0, "world_size": 1}})
began = time.monotonic()
configuration = 0
step = 0
while step < int(os.environ.get("STEPS", 10**9)):
    time.sleep(0.005)
    step += 1
    seconds = time.monotonic() - began
    say({"step": step, "seconds": seconds, "samples": 8 * step, "configuration": configuration})
    while True:
        try:
            packet = channel.recv(1 << 16, socket.MSG_DONTWAIT)
        except BlockingIOError:
            break
        if not packet:
            sys.exit("the tuner is gone")
        asked = json.loads(packet).get("switch")
        if asked is None:
            continue
        value = asked["knobs"].get("set_to_none", False)
        row = {"event": "knob", "knob": "set_to_none", "may": True, "today": False, "value": value}
        say({"hook": row})
        configuration = asked["configuration"]
)";

/// Endless trials are live ones, quick ones have processes of their own. A live trial runs from its
/// start to its end, as long as the program does that it shares.
class LiveBench final : public PythonBench {
 public:
  explicit LiveBench(int parallel) : PythonBench(parallel, k_live_program) {}

  [[nodiscard]] std::unique_ptr<Runner> make_runner() override {
    return make_live_runner(clock(), make_local());
  }
  [[nodiscard]] TrialSpec endless_trial(TrialKey key) const override {
    TrialSpec spec = PythonBench::endless_trial(key);
    spec.live = LiveTrial{{{"set_to_none", true}}, {}, k_seconds_per_sample, {}};
    return spec;
  }

  void on_event(const TrialEvent& event) override {
    const TrialKey key = key_of(event);
    if (const auto* started = std::get_if<TrialStarted>(&event)) {
      if (started->placement.contains(k_shared_program)) live_.insert(key);
    } else if (std::holds_alternative<TrialFinished>(event)) {
      live_.erase(key);
    }
  }
  [[nodiscard]] bool is_running(TrialKey key) const override {
    if (live_.contains(key)) return is_alive(folder().path() / "shared.pid");
    return PythonBench::is_running(key);
  }

 private:
  static constexpr double k_seconds_per_sample = 0.005 / 8.0;

  std::set<TrialKey> live_;
};

std::unique_ptr<RunnerBench> make_live_bench(int parallel) {
  return std::make_unique<LiveBench>(parallel);
}

/// A program whose training is over once each settings has had its turn, before they can be
/// compared.
class ShortProgram : public RunnerContract {};

TEST_P(ShortProgram, LeavesTrialsToProcessesOfTheirOwn) {
  use(1);
  const auto short_trial = [this](int attempt) {
    TrialSpec spec = bench().quick_trial({1, attempt});
    spec.live = bench().endless_trial({1, attempt}).live;
    spec.environment["STEPS"] = "90";
    return spec;
  };
  start(short_trial(1));
  EXPECT_EQ(finished(wait_for_end({{1, 1}}), {1, 1}).outcome.kind, OutcomeKind::lost);
  start(short_trial(2));
  EXPECT_EQ(finished(wait_for_end({{1, 2}}), {1, 2}).outcome.kind, OutcomeKind::completed);
}

INSTANTIATE_TEST_SUITE_P(Live, ShortProgram, testing::Values(BenchMaker{make_live_bench, 1}));
INSTANTIATE_TEST_SUITE_P(Live, RunnerContract, testing::Values(BenchMaker{make_live_bench, 1}));

}  // namespace
}  // namespace steptune::contract
