// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/configuration.hpp"
#include "common/error.hpp"
#include "common/json.hpp"
#include "common/unique_fd.hpp"

namespace steptune::live {

/// A step that a program has done. Counters are cumulative since the program's start.
struct LiveStep {
  double step = 0.0;
  double seconds = 0.0;                     ///< of training, without phases
  std::optional<double> samples;            ///< of all ranks; nothing: not known
  std::int64_t configuration = 0;           ///< number of the switch that is in force; 0: none yet
  bool warm_up = false;                     ///< it has still something of the configuration before
  std::map<std::string, double> parts{};    ///< cumulative seconds by part of a step; told at times
  std::optional<bool> has_finite_loss{};    ///< told at times; nothing: not told
  std::map<std::string, double> metrics{};  ///< shares of the host's time; told at times
};

/// The rank that leads has connected.
struct LiveHello {
  int world_size = 1;
};
struct LiveHookEvent {
  /// JSON (docs/internals/hooks-protocol.md, "Events"). Events of ranks other than 0: rows of knobs only.
  std::string event;
};
/// The program has closed its end: it is over, or its hook has withdrawn.
struct LiveGone {};
using LiveMessage = std::variant<LiveHello, LiveHookEvent, LiveStep, LiveGone>;

/// Knobs by name.
using KnobValues = std::map<std::string, Value>;

/// Seconds between two looks at a channel: short beside a block, rare enough to cost the program
/// nothing.
inline constexpr double k_between_looks_s = 0.02;

/// The first step that all ranks can be told of before they make it; `last`: the latest that rank 0
/// has told.
[[nodiscard]] double next_step_to_switch(const LiveStep& last, int world_size);

/// The tuner's end of the connection with PyTorch's hook in mode `live`
/// (docs/internals/hooks-protocol.md, "Switching while the program runs"). Never blocks. Rank 0
/// leads: it tells steps; all ranks are told of switches, and rows of knobs are heard from any. Not
/// thread safe.
class LiveChannel {
 public:
  /// Listens on a socket in a new folder of its own, which goes with the object. Folders that
  /// tuners left behind that were killed go, too.
  [[nodiscard]] static Result<LiveChannel> open();
  LiveChannel(LiveChannel&& other) noexcept;
  LiveChannel& operator=(LiveChannel&& other) noexcept;
  LiveChannel(const LiveChannel&) = delete;
  LiveChannel& operator=(const LiveChannel&) = delete;
  ~LiveChannel();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Another process has the socket and its folder from now on: they do not go with the object.
  void abandon() { path_.clear(); }

  /// What has come since the last call, in order; what others than rank 0 say of knobs comes before
  /// what rank 0 says after it. Anything that is no message of the protocol is passed over.
  [[nodiscard]] std::vector<LiveMessage> receive();

  /// From step `from_step` on these values, and the program's own for all other knobs. `last`: the
  /// program goes on so, without the tuner.
  void send_switch(double from_step, std::int64_t configuration, const KnobValues& knobs,
                   bool last = false);

  /// Tells all ranks that the tuner is there.
  void send_alive();

 private:
  struct Rank {
    UniqueFd socket;
    int rank = -1;  ///< -1: has not said hello
  };
  LiveChannel(UniqueFd listener, std::filesystem::path path);
  void send(const std::string& packet);
  void accept_ranks();
  /// As they came, each with the rank that sent it.
  using Packets = std::vector<std::pair<int, Json>>;
  /// False once the rank's end is closed.
  [[nodiscard]] static bool receive_from(Rank& rank, Packets& of_first, Packets& of_others);
  static void take_from_first(const Json& packet, std::vector<LiveMessage>& messages);
  static void take_from_other(int rank, Json packet, std::vector<LiveMessage>& messages);
  void remove_folder();

  UniqueFd listener_;
  std::filesystem::path path_;  ///< of the socket; empty: moved from
  std::vector<Rank> ranks_;
};

}  // namespace steptune::live
