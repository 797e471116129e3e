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

/// A step of a program. Counters are cumulative since the program's start.
struct LiveStep {
  double step = 0.0;
  double seconds = 0.0;            ///< training time without phases
  std::optional<double> samples;   ///< sum over all ranks; nullopt: unknown
  std::int64_t configuration = 0;  ///< number of the configuration in use; 0: the program's own
  bool warm_up = false;            ///< still contains effects of the previous configuration
  /// Cumulative seconds for each part of a step; only in some steps.
  std::map<std::string, double> parts{};
  std::optional<bool> has_finite_loss{};    ///< only in some steps; nullopt: not reported
  std::map<std::string, double> metrics{};  ///< shares of the host's time; only in some steps
};

/// Message: rank 0, which leads, has connected.
struct LiveHello {
  int world_size = 1;
};
struct LiveHookEvent {
  /// JSON (docs/internals/hooks-protocol.md, "Events"). Ranks other than 0 send only knob events.
  std::string event;
};
/// Message: the program has closed the connection. It has ended, or its hook has withdrawn.
struct LiveGone {};
using LiveMessage = std::variant<LiveHello, LiveHookEvent, LiveStep, LiveGone>;

/// Knob values by name.
using KnobValues = std::map<std::string, Value>;

/// Seconds before a switch at which ranks are informed. The program's speed predicts the step of
/// the switch; it is measured over at least this time.
inline constexpr double k_notice_s = 0.1;

/// Returns the number of the earliest step at which all ranks can switch, because they can be
/// informed before they make it. `last` is the latest step reported by rank 0, `earlier` an earlier
/// one. The program's speed is computed from these two steps.
[[nodiscard]] double next_step_to_switch(const LiveStep& earlier, const LiveStep& last,
                                         int world_size);

/// The tuner's end of the connection with the Python hook in mode `live`
/// (docs/internals/hooks-protocol.md, "Switching while the program runs"). Never blocks. Rank 0
/// leads and reports steps. All ranks receive switches, and any rank may send knob events. Not
/// thread safe.
class LiveChannel {
 public:
  /// Listens on a socket in a new folder, which the destructor removes. Also removes folders left
  /// by killed tuners.
  [[nodiscard]] static Result<LiveChannel> open();
  LiveChannel(LiveChannel&& other) noexcept;
  LiveChannel& operator=(LiveChannel&& other) noexcept;
  LiveChannel(const LiveChannel&) = delete;
  LiveChannel& operator=(const LiveChannel&) = delete;
  ~LiveChannel();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Leaves the socket and its folder to another process; the destructor does not remove them.
  void abandon() { path_.clear(); }

  /// Returns messages since the last call. A knob event of another rank precedes messages that rank
  /// 0 sent later. Skips anything that is not a message of the protocol.
  [[nodiscard]] std::vector<LiveMessage> receive();

  /// Announces these knob values for the steps from `from_step` on; all other knobs get the
  /// program's own values. If `last` is true, the program then continues without the tuner.
  void send_switch(double from_step, std::int64_t configuration, const KnobValues& knobs,
                   bool last = false);

  /// Sends a sign of life to all ranks.
  void send_alive();

 private:
  struct Rank {
    UniqueFd socket;
    int rank = -1;  ///< -1: not introduced yet
  };
  LiveChannel(UniqueFd listener, std::filesystem::path path);
  void send(const std::string& packet);
  void accept_ranks();
  /// Packets in order of arrival, each with the number of the sending rank.
  using Packets = std::vector<std::pair<int, Json>>;
  /// Reads the rank's packets. Returns false when the rank has closed its end.
  [[nodiscard]] static bool receive_from(Rank& rank, Packets& of_first, Packets& of_others);
  static void take_from_first(const Json& packet, std::vector<LiveMessage>& messages);
  static void take_from_other(int rank, Json packet, std::vector<LiveMessage>& messages);
  void remove_folder();

  UniqueFd listener_;
  std::filesystem::path path_;  ///< path of the socket; empty: moved from
  std::vector<Rank> ranks_;
};

}  // namespace steptune::live
