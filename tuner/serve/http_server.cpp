// SPDX-License-Identifier: Apache-2.0
#include "tuner/serve/http_server.hpp"

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "common/log.hpp"
#include "common/pause.hpp"
#include "common/system_reason.hpp"
#include "common/unique_fd.hpp"
#include "tuner/serve/connection.hpp"

namespace steptune {
namespace {

/// If all threads are busy, clients that have not sent their request within this time make room.
constexpr double k_patience_with_client_s = 0.5;

}  // namespace

/// Server that uses cpp-httplib only to parse a request and to write its answer. Only a derived
/// class can call these functions. Does not use the accept loop of cpp-httplib: that loop has an
/// unlimited queue, and silent clients block its threads.
class HttpServer::Engine final : public httplib::Server {
 public:
  Engine(const Clock& clock, AnswerRequest answer) : clock_(clock) {
    set_pre_routing_handler(
        [answer = std::move(answer)](const httplib::Request& request, httplib::Response& response) {
          answer(request, response);
          return HandlerResponse::Handled;
        });
    set_exception_handler([](const httplib::Request&, httplib::Response& response,
                             std::exception_ptr failure) {
      try {
        std::rethrow_exception(std::move(failure));
      } catch (const std::exception& exception) {
        write_log(LogLevel::error, fmt::format("answering a request failed: {}", exception.what()));
      }
      response.status = 500;
      response.set_content("steptune: internal error\n", "text/plain");
    });
  }

  Result<int> bind(int port) {
    listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int reuse = 1;
    ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_.get(), generic, size) != 0 || ::listen(listener_.get(), SOMAXCONN) != 0 ||
        ::getsockname(listener_.get(), generic, &size) != 0) {
      return fail(ErrorKind::unavailable,
                  fmt::format("cannot listen on port {}: {}", port, system_reason(errno)),
                  "127.0.0.1", "choose another with --port; 0 takes any that is free");
    }
    // cpp-httplib ends endless answers when this socket is invalid.
    svr_sock_ = listener_.get();
    return ntohs(address.sin_port);
  }

  Result<void> run(const std::function<bool()>& is_stopping, const std::function<void()>& on_stop) {
    if (auto started = start_threads(); !started) {
      end_threads();
      return started;
    }
    while (!is_stopping()) {
      pollfd listening{listener_.get(), POLLIN, 0};
      const int ready = ::poll(&listening, 1, static_cast<int>(1e3 * k_poll_s));
      make_room();
      if (ready <= 0) continue;
      const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd >= 0) {
        take(UniqueFd(fd));
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        // The connection stays in the backlog, so the next poll would return at once. Pause, to
        // save CPU time.
        pause_thread(k_poll_s);
      }
    }
    svr_sock_ = INVALID_SOCKET;
    listener_.reset();
    on_stop();
    end_threads();
    return {};
  }

 private:
  /// A connection that a thread is serving.
  struct Visit {
    int fd;
    double begun_s;
    bool is_asking = true;  ///< the client's request is not complete
  };

  /// Starts the threads with all signals blocked, so that signals interrupt the thread that accepts
  /// connections.
  Result<void> start_threads() {
    sigset_t all;
    sigset_t former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    std::error_code fault;
    try {
      for (std::size_t i = 0; i < k_server_threads; ++i)
        threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      fault = error.code();
    }
    pthread_sigmask(SIG_SETMASK, &former, nullptr);
    if (!fault) return {};
    return fail(ErrorKind::unavailable,
                fmt::format("cannot start {} threads: {}", k_server_threads, fault.message()), {},
                "allow this user, or this container, more processes and memory");
  }

  /// Cuts all connections and waits for the threads.
  void end_threads() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      waiting_.clear();
      for (const Visit& visit : visits_)
        ::shutdown(visit.fd, SHUT_RDWR);
    }
    changed_.notify_all();
    threads_.clear();
  }

  void take(UniqueFd connection) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= 4 * k_server_threads) return;
    waiting_.push_back(std::move(connection));
    changed_.notify_one();
  }

  /// Makes threads free for waiting connections. For each of them, closes one served connection
  /// that has sent no request in time.
  void make_room() {
    const std::lock_guard lock(mutex_);
    if (visits_.size() < k_server_threads) return;
    std::size_t wanted = waiting_.size();
    const double latest_s = clock_.now_s() - k_patience_with_client_s;
    for (Visit& visit : visits_) {
      if (wanted == 0) return;
      if (!visit.is_asking || visit.begun_s > latest_s) continue;
      visit.is_asking = false;
      ::shutdown(visit.fd, SHUT_RDWR);
      --wanted;
    }
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
      if (stopped_) return;
      const UniqueFd connection = std::move(waiting_.front());
      waiting_.pop_front();
      const auto visit = visits_.insert(visits_.end(), Visit{connection.get(), clock_.now_s()});
      lock.unlock();
      serve(connection.get(), *visit);
      lock.lock();
      // Remove the entry before the descriptor is closed, because the descriptor's number may then
      // be reused.
      visits_.erase(visit);
    }
  }

  void serve(int fd, Visit& visit) {
    Connection connection(fd, clock_);
    // cpp-httplib catches exceptions from making an answer, but not from writing it.
    try {
      answer(connection, [&](httplib::Request& request) {
        const std::lock_guard lock(mutex_);
        visit.is_asking = false;
        // Do not compress: client and server run on one machine, where compression costs more time
        // than it saves. Do not send parts of an answer, because browsers have no use for them.
        request.headers.erase("Accept-Encoding");
        request.ranges.clear();
      });
    } catch (const std::exception& exception) {
      write_log(LogLevel::error, fmt::format("sending an answer failed: {}", exception.what()));
    }
    ::shutdown(fd, SHUT_WR);
    connection.discard_input();
  }

  /// Reads and answers one request. Calls `look` with the request once it has been read.
  template <typename Look>
  void answer(Connection& connection, Look look) {
    bool closed = true;
    if constexpr (requires { process_request(connection, true, closed, look); }) {
      process_request(connection, /*close_connection=*/true, closed, look);
    } else {
      // cpp-httplib 0.18 expects the addresses of both ends. They are not used here.
      process_request(connection, "", 0, "", 0, /*close_connection=*/true, closed, look);
    }
  }

  const Clock& clock_;
  UniqueFd listener_;
  std::mutex mutex_;  ///< guards the members below, except the threads
  std::condition_variable changed_;
  std::deque<UniqueFd> waiting_;
  std::list<Visit> visits_;  ///< oldest first
  bool stopped_ = false;
  std::vector<std::jthread> threads_;
};

HttpServer::HttpServer(const Clock& clock, AnswerRequest answer)
    : engine_(std::make_unique<Engine>(clock, std::move(answer))) {}
HttpServer::~HttpServer() = default;

Result<int> HttpServer::bind(int port) {
  return engine_->bind(port);
}

Result<void> HttpServer::run(const std::function<bool()>& is_stopping,
                             const std::function<void()>& on_stop) {
  return engine_->run(is_stopping, on_stop);
}

}  // namespace steptune
