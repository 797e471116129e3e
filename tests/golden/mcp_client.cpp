// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/mcp_client.hpp"

#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/child_process.hpp"

namespace steptune::golden {
namespace {

constexpr std::chrono::seconds k_patience{60};

std::pair<UniqueFd, UniqueFd> pipe_ends() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

McpClient::McpClient(const Sandbox& sandbox, const std::vector<std::string>& arguments) {
  auto [in_read, in_write] = pipe_ends();
  auto [out_read, out_write] = pipe_ends();
  ChildRequest request;
  request.argv = {steptune_program(), "mcp"};
  request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
  request.environment = {"PATH=/usr/local/bin:/usr/bin:/bin"};
  request.working_directory = sandbox.folder();
  request.in = in_read.get();
  request.out = out_write.get();
  request.err = k_own_stream;
  const auto pid = start_child(request);
  if (!pid) throw std::runtime_error("cannot start the server");
  pid_ = *pid;
  in_ = std::move(in_write);
  out_ = std::move(out_read);
}

McpClient::~McpClient() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  wait();
}

void McpClient::send(const std::string& line) const {
  const std::string text = line + "\n";
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = ::write(in_.get(), text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw std::runtime_error("the server has closed its input");
    at += static_cast<std::size_t>(count);
  }
}

void McpClient::request(const Json& id, const std::string& method, const Json& params) const {
  send(Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump());
}

void McpClient::call(const Json& id, const std::string& tool, const Json& arguments) const {
  request(id, "tools/call",
          {{"name", tool}, {"arguments", arguments}, {"_meta", {{"progressToken", id}}}});
}

Json McpClient::initialize() {
  request("first", "initialize",
          {{"protocolVersion", "2025-06-18"},
           {"capabilities", Json::object()},
           {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
  Json result = response("first")["result"];
  send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  return result;
}

Json McpClient::next(const std::function<bool(const Json&)>& fits) {
  const auto deadline = std::chrono::steady_clock::now() + k_patience;
  while (true) {
    for (std::size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
      Json message = Json::parse(text_.substr(0, end));
      text_.erase(0, end + 1);
      if (fits(message)) return message;
      passed_.push_back(std::move(message));
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd out{out_.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&out, 1, static_cast<int>(left.count())) <= 0) return nullptr;
    std::array<char, 65536> buffer{};
    const ssize_t count = ::read(out_.get(), buffer.data(), buffer.size());
    if (count <= 0) return nullptr;
    text_.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

Json McpClient::response(const Json& id) {
  return next([&](const Json& message) { return message.value("id", Json(nullptr)) == id; });
}

Json McpClient::notification(const std::string& method) {
  return next([&](const Json& message) { return message.value("method", "") == method; });
}

int McpClient::wait() {
  int status = 0;
  while (::waitpid(std::exchange(pid_, -1), &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int processes_with(const std::string& text) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (std::isdigit(static_cast<unsigned char>(name[0])) == 0) continue;
    // A stream would throw if the process ends meanwhile.
    const UniqueFd file(::open((entry.path() / "cmdline").c_str(), O_RDONLY | O_CLOEXEC));
    std::string line(65536, '\0');
    const ssize_t size = file ? ::read(file.get(), line.data(), line.size()) : 0;
    line.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    if (line.find(text) != std::string::npos) ++count;
  }
  return count;
}

}  // namespace steptune::golden
