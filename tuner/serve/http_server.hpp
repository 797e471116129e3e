// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <httplib.h>

#include "common/clock.hpp"
#include "common/error.hpp"

namespace steptune {

/// Most requests that the server answers at once, each in its own thread.
inline constexpr std::size_t k_server_threads = 64;

/// Fills in the answer to a request. Several threads call it at the same time.
using AnswerRequest = std::function<void(const httplib::Request&, httplib::Response&)>;

/// HTTP/1.1 server on 127.0.0.1 with one request for each connection. cpp-httplib parses requests
/// and writes answers. This class limits threads, queue and deadlines, so that slow or silent
/// clients cannot block other clients. If connections wait for a thread, it closes connections that
/// have sent no request for half a second.
class HttpServer {
 public:
  /// `clock` must outlive the server.
  HttpServer(const Clock& clock, AnswerRequest answer);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  /// Binds a port (0: any free port) and returns its number. Returns `unavailable` if the port is
  /// in use.
  [[nodiscard]] Result<int> bind(int port);

  /// Answers requests until `is_stopping` returns true; calls it at least four times a second and
  /// after each signal. Then calls `on_stop`, which must end endless answers, and closes all
  /// connections. The calling thread receives all signals. Returns `unavailable` at once if threads
  /// cannot be started.
  [[nodiscard]] Result<void> run(const std::function<bool()>& is_stopping,
                                 const std::function<void()>& on_stop);

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace steptune
