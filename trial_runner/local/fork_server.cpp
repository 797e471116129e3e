// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/fork_server.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/json.hpp"
#include "common/json_fields.hpp"
#include "common/system_reason.hpp"
#include "trial_runner/local/cpu_set.hpp"

namespace steptune::local {
namespace {

constexpr const char* k_variable = "STEPTUNE_FORK_SERVER";

Error out_of_descriptors(std::string_view what) {
  return {ErrorKind::unavailable,
          fmt::format("cannot create {}: {}", what, system_reason(errno)),
          {},
          "raise the limit of open files: ulimit -n"};
}

/// Kills a child's process group, which the child leads, and reaps the child.
void end_group(pid_t leader) {
  ::kill(-leader, SIGKILL);
  while (::waitpid(leader, nullptr, 0) < 0 && errno == EINTR) {
  }
}

ForkServerMessage read_message(const std::string& text, pid_t server) {
  const auto json = parse_json(text, "");
  if (!json || !json->is_object()) return ForkRefused{"it sent an invalid message"};
  if (const auto ready = json->find("ready"); ready != json->end()) {
    // If a shell started the interpreter, forking is not the same: a forked process would not have
    // that shell as parent.
    if (number_at(*ready, "pid") != static_cast<double>(server)) {
      return ForkRefused{"the command starts its interpreter through another program"};
    }
    return ForkServerReady{number_at(*ready, "seconds").value_or(0.0)};
  }
  if (const auto forked = json->find("forked"); forked != json->end()) {
    if (const auto pid = number_at(*forked, "pid"); pid && *pid > 1.0) {
      return ForkedProcess{static_cast<pid_t>(*pid)};
    }
  }
  const std::string why = text_at(*json, "refused");
  return ForkRefused{why.empty() ? "it sent an invalid message" : why};
}

}  // namespace

Result<ForkServer> ForkServer::start(const ForkServerTraits& traits,
                                     const std::vector<std::string>& argv,
                                     const std::vector<std::string>& modules,
                                     const std::filesystem::path& log) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return tl::unexpected(out_of_descriptors("a socket"));
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  UniqueFd output;
  if (!log.empty()) {
    output = UniqueFd(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  }
  SpawnRequest request;
  request.argv = argv;
  request.environment = traits.environment;
  request.environment[k_variable] = dump_json(Json{{"v", 1}, {"argv", argv}, {"modules", modules}});
  request.working_directory = traits.working_directory;
  request.stdin_fd = theirs.get();
  request.output_fd = output.get();
  const AffinityScope affinity(traits.cpus);
  const auto pid = spawn(request);
  if (!pid) return tl::unexpected(pid.error());
  return ForkServer(*pid, std::move(ours));
}

ForkServer::ForkServer(ForkServer&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), line_(std::move(other.line_)) {}

ForkServer& ForkServer::operator=(ForkServer&& other) noexcept {
  if (this != &other) {
    end();
    pid_ = std::exchange(other.pid_, 0);
    line_ = std::move(other.line_);
  }
  return *this;
}

ForkServer::~ForkServer() {
  end();
}

void ForkServer::end() {
  if (pid_ <= 0) return;
  // The server leads its own process group; forked processes lead other groups. The server is not
  // reaped yet, so its process number is still valid.
  end_group(std::exchange(pid_, 0));
  // A forked child waits at its gate (fork_server.py) until its message is received, so end it
  // here.
  while (auto message = receive()) {
    if (const auto* forked = std::get_if<ForkedProcess>(&*message)) end_group(forked->pid);
    if (std::holds_alternative<ForkServerGone>(*message)) break;
  }
  line_.reset();
}

bool ForkServer::ask(const std::vector<std::string>& argv, const Environment& variables,
                     int output) {
  Json environment = Json::object();
  for (const auto& [name, value] : variables)
    environment[name] = value;
  std::string text = dump_json(Json{{"v", 1}, {"argv", argv}, {"environment", environment}});
  iovec content{text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> ancillary{};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = ancillary.data();
  message.msg_controllen = ancillary.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &output, sizeof(int));
  return ::sendmsg(line_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(text.size());
}

std::optional<ForkServerMessage> ForkServer::receive() {
  std::string text(65'536, '\0');  // messages are shorter
  ssize_t got = 0;
  do {
    got = ::recv(line_.get(), text.data(), text.size(), MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return std::nullopt;
  if (got <= 0) return ForkServerGone{};
  text.resize(static_cast<std::size_t>(got));
  return read_message(text, pid_);
}

}  // namespace steptune::local
