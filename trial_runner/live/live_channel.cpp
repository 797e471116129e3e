// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/live/live_channel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/json.hpp"
#include "common/json_fields.hpp"
#include "common/machine/processes.hpp"
#include "common/system_reason.hpp"

namespace steptune::live {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_folder = "steptune-live-";
constexpr const char* k_socket = "tuner";

Error socket_error(const char* what, const fs::path& path) {
  return {ErrorKind::runner, fmt::format("cannot {}: {}", what, system_reason(errno)),
          path.string(), ""};
}

UniqueFd new_socket() {
  return UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// Returns nullopt if the path is too long for a socket.
std::optional<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return std::nullopt;
  path.copy(address.sun_path, path.size());
  return address;
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

std::string folder_prefix() {
  // A part of the boot id distinguishes machines that share a folder. Paths of sockets are short.
  return k_folder + boot_id().substr(0, 8) + "-";
}

bool is_left_behind(const fs::path& socket) {
  const auto address = address_of(socket.string());
  const UniqueFd visitor = new_socket();
  return address && visitor.get() >= 0 &&
         ::connect(visitor.get(), generic(*address), sizeof(*address)) != 0 &&
         errno == ECONNREFUSED;
}

/// Removes folders of killed tuners of this machine: no process listens on their sockets.
void remove_left_behind(const fs::path& parent) {
  const std::string prefix = folder_prefix();
  std::error_code unreadable;
  fs::directory_iterator entry(parent, unreadable);
  for (; !unreadable && entry != fs::directory_iterator(); entry.increment(unreadable)) {
    const fs::path& folder = entry->path();
    if (!folder.filename().string().starts_with(prefix)) continue;
    std::error_code fault;
    if (is_left_behind(folder / k_socket)) fs::remove_all(folder, fault);
  }
}

std::optional<LiveStep> step_from(const Json& json) {
  const auto step = number_at(json, "step");
  const auto seconds = number_at(json, "seconds");
  const auto configuration = number_at(json, "configuration");
  if (!step || !seconds || !configuration) return std::nullopt;
  const auto warm_up = json.find("warm_up");
  LiveStep parsed{*step, *seconds, number_at(json, "samples"),
                  static_cast<std::int64_t>(*configuration),
                  warm_up != json.end() && *warm_up == true};
  if (const auto parts = json.find("parts"); parts != json.end() && parts->is_object()) {
    for (const auto& [name, spent] : parts->items()) {
      if (spent.is_number()) parsed.parts[name] = spent.get<double>();
    }
  }
  for (const char* name : {"gc_share", "kernel_share"}) {
    if (const auto share = number_at(json, name)) parsed.metrics[name] = *share;
  }
  if (number_at(json, "loss")) parsed.has_finite_loss = true;
  if (const auto names = json.find("not_finite"); names != json.end() && names->is_array()) {
    if (std::ranges::find(*names, "loss") != names->end()) parsed.has_finite_loss = false;
  }
  return parsed;
}

bool is_row(const Json& event) {
  return event.is_object() && text_at(event, "event") == "knob";
}

}  // namespace

double next_step_to_switch(const LiveStep& earlier, const LiveStep& last, int world_size) {
  if (world_size == 1 || !(last.step > 0.0)) return last.step + 1.0;
  const double steps_per_s =
      (last.step - earlier.step) / std::max(1e-6, last.seconds - earlier.seconds);
  return last.step + std::ceil(k_notice_s * steps_per_s) + 2.0;
}

Result<LiveChannel> LiveChannel::open() {
  std::error_code missing;
  const fs::path parent = fs::temp_directory_path(missing);
  if (!missing) remove_left_behind(parent);
  std::string folder = (parent / (folder_prefix() + "XXXXXX")).string();
  if (missing || ::mkdtemp(folder.data()) == nullptr) {
    return fail(ErrorKind::runner,
                fmt::format("cannot make a temporary folder for the program's connection: {}",
                            system_reason(missing ? missing.value() : errno)),
                missing ? "" : folder, "set TMPDIR to a folder that can be written");
  }
  LiveChannel channel(new_socket(), fs::path(folder) / k_socket);
  const std::string path = channel.path_.string();
  // Listen before the final name appears, so that `remove_left_behind` never finds a socket without
  // a listener.
  const std::string unready = path + "-";
  const auto address = address_of(unready);
  if (!address) {
    return fail(ErrorKind::runner, "is too long a path for a socket", path,
                "set TMPDIR to a shorter one");
  }
  const int listener = channel.listener_.get();
  const bool listens =
      listener >= 0 && ::bind(listener, generic(*address), sizeof(*address)) == 0 &&
      ::listen(listener, SOMAXCONN) == 0 && ::rename(unready.c_str(), path.c_str()) == 0;
  if (!listens) return tl::unexpected(socket_error("listen for the program", path));
  return channel;
}

LiveChannel::LiveChannel(UniqueFd listener, fs::path path)
    : listener_(std::move(listener)), path_(std::move(path)) {}

LiveChannel::LiveChannel(LiveChannel&& other) noexcept
    : listener_(std::move(other.listener_)),
      path_(std::exchange(other.path_, {})),
      ranks_(std::move(other.ranks_)) {}

LiveChannel& LiveChannel::operator=(LiveChannel&& other) noexcept {
  if (this == &other) return *this;
  remove_folder();
  listener_ = std::move(other.listener_);
  path_ = std::exchange(other.path_, {});
  ranks_ = std::move(other.ranks_);
  return *this;
}

LiveChannel::~LiveChannel() {
  remove_folder();
}

void LiveChannel::remove_folder() {
  if (path_.empty()) return;
  std::error_code error;
  fs::remove_all(path_.parent_path(), error);
}

void LiveChannel::accept_ranks() {
  while (true) {
    UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.get() < 0) return;
    ranks_.push_back({std::move(socket), -1});
  }
}

std::vector<LiveMessage> LiveChannel::receive() {
  accept_ranks();
  Packets of_first;
  Packets of_others;
  bool first_is_gone = false;
  std::erase_if(ranks_, [&](Rank& rank) {
    if (rank.rank > 0 || receive_from(rank, of_first, of_others)) return false;
    first_is_gone = first_is_gone || rank.rank == 0;
    return true;
  });
  // Read rank 0 first. Ranks wait for each other in each step. So when rank 0's first step after a
  // switch has been read, the other ranks' reports about the switch have arrived.
  std::erase_if(ranks_, [&](Rank& rank) {
    return rank.rank > 0 && !receive_from(rank, of_first, of_others);
  });
  std::vector<LiveMessage> messages;
  for (auto& [rank, packet] : of_others)
    take_from_other(rank, std::move(packet), messages);
  for (auto& [rank, packet] : of_first)
    take_from_first(packet, messages);
  if (first_is_gone) messages.emplace_back(LiveGone{});
  return messages;
}

bool LiveChannel::receive_from(Rank& rank, Packets& of_first, Packets& of_others) {
  std::array<char, 65'536> packet{};
  while (true) {
    const ssize_t size = ::recv(rank.socket.get(), packet.data(), packet.size(), 0);
    // If a rank ended without reading the last switch, Linux returns this error once before the
    // rank's remaining messages.
    if (size < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
    if (size < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (size == 0) return false;
    auto json = parse_json({packet.data(), static_cast<std::size_t>(size)}, "");
    if (!json || !json->is_object()) continue;
    if (const auto hello = json->find("hello"); hello != json->end() && hello->is_object()) {
      rank.rank = static_cast<int>(number_at(*hello, "rank").value_or(0.0));
    }
    (rank.rank == 0 ? of_first : of_others).emplace_back(rank.rank, *std::move(json));
  }
}

void LiveChannel::take_from_first(const Json& packet, std::vector<LiveMessage>& messages) {
  if (const auto hello = packet.find("hello"); hello != packet.end() && hello->is_object()) {
    const double world_size = number_at(*hello, "world_size").value_or(1.0);
    messages.emplace_back(LiveHello{static_cast<int>(world_size)});
  } else if (const auto event = packet.find("hook"); event != packet.end()) {
    messages.emplace_back(LiveHookEvent{dump_json(*event)});
  } else if (const auto step = step_from(packet)) {
    messages.emplace_back(*step);
  }
}

void LiveChannel::take_from_other(int rank, Json packet, std::vector<LiveMessage>& messages) {
  const auto event = packet.find("hook");
  if (event == packet.end() || !is_row(*event)) return;
  (*event)["rank"] = rank;
  messages.emplace_back(LiveHookEvent{dump_json(*event)});
}

void LiveChannel::send_switch(double from_step, std::int64_t configuration, const KnobValues& knobs,
                              bool last) {
  Json change = {{"from_step", static_cast<std::int64_t>(from_step)},
                 {"configuration", configuration},
                 {"knobs", Json::object()}};
  for (const auto& [name, value] : knobs)
    change["knobs"][name] = to_json(value);
  if (last) change["last"] = true;
  send(dump_json(Json{{"switch", std::move(change)}}));
}

void LiveChannel::send_alive() {
  send(R"({"alive":true})");
}

void LiveChannel::send(const std::string& packet) {
  // Ignore errors: the next read notices that a rank is gone.
  for (const Rank& rank : ranks_)
    static_cast<void>(::send(rank.socket.get(), packet.data(), packet.size(), MSG_NOSIGNAL));
}

}  // namespace steptune::live
