// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/search_quality/python_peer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/json.hpp"
#include "common/system_reason.hpp"

namespace steptune::search_quality {
namespace {

/// Child process that exchanges lines with this process. Its stdin and stdout are one socket.
class LinePeer {
 public:
  static Result<LinePeer> start(const std::vector<std::string>& arguments) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      return fail(ErrorKind::runner, "no socket for the peer: " + system_reason(errno));
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    std::vector<char*> argv;
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    LinePeer peer;
    peer.socket_ = ends[0];
    const int error = posix_spawn(&peer.pid_, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) {
      peer.pid_ = -1;
      return fail(ErrorKind::runner, "cannot be started: " + system_reason(error), arguments[0]);
    }
    return peer;
  }

  LinePeer(LinePeer&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        socket_(std::exchange(other.socket_, -1)),
        unread_(std::move(other.unread_)) {}
  LinePeer(const LinePeer&) = delete;
  LinePeer& operator=(const LinePeer&) = delete;
  LinePeer& operator=(LinePeer&&) = delete;

  /// Closes the socket, which ends the script's input. The script then exits.
  ~LinePeer() {
    if (socket_ >= 0) close(socket_);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }

  Result<void> send(const Json& message) {
    const std::string line = dump_json(message) + '\n';
    for (std::size_t sent = 0; sent < line.size();) {
      const ssize_t count = ::send(socket_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return gone(system_reason(errno));
      sent += static_cast<std::size_t>(count);
    }
    return {};
  }

  Result<Json> receive() {
    constexpr std::size_t k_max_line = std::size_t{1} << 20;
    std::size_t end = unread_.find('\n');
    while (end == std::string::npos) {
      std::array<char, 4096> buffer{};
      const ssize_t count = read(socket_, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return gone(system_reason(errno));
      if (count == 0) return gone("it ended");
      unread_.append(buffer.data(), static_cast<std::size_t>(count));
      if (unread_.size() > k_max_line) return gone("its line is too long");
      end = unread_.find('\n');
    }
    auto message = parse_json(std::string_view(unread_).substr(0, end), "peer");
    unread_.erase(0, end + 1);
    return message;
  }

 private:
  LinePeer() = default;

  static tl::unexpected<Error> gone(const std::string& reason) {
    return fail(ErrorKind::runner, "the peer does not answer: " + reason, {},
                "its message is printed above");
  }

  pid_t pid_ = -1;
  int socket_ = -1;
  std::string unread_;
};

Json dimension_of(const Parameter& parameter) {
  if (const auto levels = parameter.level_count()) {
    return {{"name", parameter.name},
            {"kind", parameter.unordered() ? "categorical" : "levels"},
            {"levels", *levels}};
  }
  return {{"name", parameter.name},
          {"kind", "float"},
          {"low", parameter.low},
          {"high", parameter.high},
          {"log", parameter.scale != Scale::linear}};
}

class PeerProposer final : public Proposer {
 public:
  PeerProposer(const SearchSpace& space, LinePeer peer) : space_(space), peer_(std::move(peer)) {}

  Result<std::optional<Configuration>> propose(std::int64_t) override {
    auto message = peer_.receive();
    if (!message) return tl::unexpected(message.error());
    Configuration configuration;
    try {
      thought_ms_ = message->at("ms").get<double>();
      const Json& coordinates = message->at("x");
      for (std::size_t i = 0; i < space_.parameters().size(); ++i) {
        const Parameter& parameter = space_.parameters()[i];
        const Json& coordinate = coordinates.at(i);
        configuration.set(parameter.name, parameter.level_count()
                                              ? parameter.level(coordinate.get<std::uint64_t>())
                                              : Value{coordinate.get<double>()});
      }
    } catch (const Json::exception& exception) {
      return fail(ErrorKind::runner, std::string("a bad answer of the peer: ") + exception.what());
    }
    return configuration;
  }

  Result<void> learn(const Observation& observation) override {
    Json message{{"values", nullptr}, {"fidelity", observation.fidelity}};
    if (!observation.values.empty()) message["values"] = observation.values;
    return peer_.send(message);
  }

  [[nodiscard]] std::optional<double> thought_ms() const override { return thought_ms_; }

 private:
  const SearchSpace& space_;
  LinePeer peer_;
  double thought_ms_ = 0.0;
};

}  // namespace

const std::vector<Peer>& python_peers() {
  static const std::vector<Peer> k_peers = {
      {"optuna-tpe", "peers", true}, {"optuna-tpe-multivariate", "peers", true},
      {"optuna-gp", "peers", true},  {"optuna-gp-log", "peers", true},
      {"smac", "peers", false},      {"ax", "peers", false},
      {"nevergrad", "peers", false}, {"hebo", "hebo", false}};
  return k_peers;
}

const Peer* find_python_peer(std::string_view name) {
  const auto& peers = python_peers();
  const auto found = std::ranges::find(peers, name, &Peer::name);
  return found == peers.end() ? nullptr : &*found;
}

Result<std::unique_ptr<Proposer>> peer_proposer(const Peer& peer, const Problem& problem,
                                                std::uint64_t seed, int trials,
                                                const std::filesystem::path& python,
                                                const std::filesystem::path& script) {
  if (!peer.general && (problem.objectives.size() != 1 || problem.fidelities.size() != 1)) {
    return fail(ErrorKind::usage,
                peer.name + " is compared with one objective and without --fidelity only");
  }
  if (!std::filesystem::exists(python)) {
    return fail(
        ErrorKind::usage, "there is no such interpreter for " + peer.name, python.string(),
        "make it with scripts/frameworks " + peer.environment + ", or name one with --python");
  }
  auto child = LinePeer::start({python.string(), script.string()});
  if (!child) return tl::unexpected(child.error());
  Json space = Json::array();
  for (const Parameter& parameter : problem.space->parameters()) {
    space.push_back(dimension_of(parameter));
  }
  auto sent = child->send({{"space", space},
                           {"searcher", peer.name},
                           {"seed", seed},
                           {"trials", trials},
                           {"objectives", problem.objectives.size()}});
  if (!sent) return tl::unexpected(sent.error());
  return std::make_unique<PeerProposer>(*problem.space, *std::move(child));
}

}  // namespace steptune::search_quality
