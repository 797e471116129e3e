// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/json.hpp"
#include "common/unique_fd.hpp"
#include "tests/golden/program.hpp"

namespace steptune::golden {

/// A client of `steptune mcp`, which it starts. The destructor kills the server if it still runs.
class McpClient {
 public:
  /// `arguments` follow `steptune mcp`. The server runs in the sandbox's folder.
  McpClient(const Sandbox& sandbox, const std::vector<std::string>& arguments);
  McpClient(const McpClient&) = delete;
  McpClient& operator=(const McpClient&) = delete;
  ~McpClient();

  [[nodiscard]] pid_t pid() const { return pid_; }

  void send(const std::string& line) const;
  void request(const Json& id, const std::string& method, const Json& params) const;
  void call(const Json& id, const std::string& tool, const Json& arguments) const;
  /// Sends `initialize`, and returns the response's result.
  Json initialize();

  /// Returns the next message that fits, within a minute; null if there is none. Messages that do
  /// not fit are kept in `passed`.
  Json next(const std::function<bool(const Json&)>& fits);
  /// Returns the response to a request.
  Json response(const Json& id);
  /// Returns the next notification of a method.
  Json notification(const std::string& method);
  [[nodiscard]] const std::vector<Json>& passed() const { return passed_; }

  /// Closes the server's standard input.
  void close_input() { in_.reset(); }
  /// Waits for the server's end; returns its exit code, or 128 + signal.
  int wait();

 private:
  pid_t pid_ = -1;
  UniqueFd in_;
  UniqueFd out_;
  std::string text_;
  std::vector<Json> passed_;
};

/// Returns the number of processes with this text in their command line.
[[nodiscard]] int processes_with(const std::string& text);

}  // namespace steptune::golden
