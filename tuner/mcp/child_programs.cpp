// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/child_programs.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/child_process.hpp"
#include "common/exit_status.hpp"
#include "common/json.hpp"
#include "common/pause.hpp"
#include "common/pipe.hpp"
#include "common/system_reason.hpp"

namespace steptune::mcp {
namespace {

/// Most bytes that are kept of a child's error output, and of a line of it.
constexpr std::size_t k_most_errors = std::size_t{64} << 10U;
/// Time for an orderly end after the first request, and again after the second. Then the child is
/// killed. A trial gets 10 s to end.
constexpr double k_patience_s = 15.0;
/// The same if the client has gone: the client may kill this process after two seconds.
constexpr double k_patience_at_end_s = 0.7;

/// Passes the available output to `take`. Closes `fd` at the end of the output.
template <typename Take>
void read_all(UniqueFd& fd, const Take& take) {
  std::array<char, 65536> buffer{};
  while (fd) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count > 0) {
      take(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else {
      if (count == 0 || errno != EAGAIN) fd.reset();
      return;
    }
  }
}

/// Returns a pipe whose read end does not block.
Result<Pipe> output_pipe() {
  auto pipe = make_pipe();
  if (pipe) ::fcntl(pipe->read.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

}  // namespace

ChildPrograms::ChildPrograms(std::vector<std::string> first_words, const Clock& clock)
    : first_words_(std::move(first_words)), clock_(clock) {}

ChildPrograms::~ChildPrograms() {
  end_all();
}

Result<std::int64_t> ChildPrograms::start(const Invocation& invocation) {
  auto out = output_pipe();
  if (!out) return tl::unexpected(out.error());
  auto err = output_pipe();
  if (!err) return tl::unexpected(err.error());
  ChildRequest request;
  request.argv = first_words_;
  request.argv.insert(request.argv.end(), invocation.words.begin(), invocation.words.end());
  request.environment = assignments(process_variables());
  request.working_directory = invocation.folder;
  request.scope = ChildScope::own_group;
  request.out = out->write.get();
  request.err = err->write.get();
  const auto pid = start_child(request);
  if (!pid) {
    return fail(ErrorKind::runner, fmt::format("cannot start: {}", system_reason(pid.error())),
                first_words_.front());
  }
  Child child;
  child.number = ++latest_number_;
  child.pid = *pid;
  child.out = std::move(out->read);
  child.err = std::move(err->read);
  children_.push_back(std::move(child));
  return latest_number_;
}

void ChildPrograms::interrupt(std::int64_t program) {
  const auto child = std::ranges::find(children_, program, &Child::number);
  if (child != children_.end()) press(*child, SIGINT, k_patience_s);
}

void ChildPrograms::press(Child& child, int signal, double patience_s) const {
  const double now_s = clock_.now_s();
  if (child.requests > 0 && now_s < child.interrupted_s + patience_s) return;
  child.interrupted_s = now_s;
  // Signal the whole group, because it includes a build that the child may wait for.
  ::kill(-child.pid, child.requests++ < 2 ? signal : SIGKILL);
}

void ChildPrograms::add_to(std::vector<pollfd>& descriptors) const {
  for (const Child& child : children_) {
    if (child.out) descriptors.push_back({child.out.get(), POLLIN, 0});
    if (child.err) descriptors.push_back({child.err.get(), POLLIN, 0});
  }
}

void ChildPrograms::read_output(Child& child, const Listener& listener) const {
  read_all(child.out, [&](std::string_view text) {
    child.ended.out.append(text.substr(0, k_max_document_bytes - child.ended.out.size()));
  });
  read_all(child.err, [&](std::string_view text) {
    child.ended.err.append(text);
    if (child.ended.err.size() > 2 * k_most_errors) {
      child.ended.err.erase(0, child.ended.err.size() - k_most_errors);
    }
    for (const char c : text) {
      if (c == '\n') {
        if (listener.on_line) listener.on_line(child.number, child.line);
        child.line.clear();
      } else if (child.line.size() < k_most_errors) {
        child.line += c;
      }
    }
  });
}

bool ChildPrograms::has_ended(Child& child) {
  int status = 0;
  const pid_t ended = ::waitpid(child.pid, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
  if (ended == child.pid) child.ended.exit_code = shell_status(status);
  return true;
}

void ChildPrograms::poll(const Listener& listener) {
  for (auto child = children_.begin(); child != children_.end();) {
    const bool has_gone = has_ended(*child);
    read_output(*child, listener);
    if (!has_gone) {
      if (child->requests > 0) press(*child, SIGINT, k_patience_s);
      ++child;
      continue;
    }
    const std::int64_t number = child->number;
    const EndedProgram ended = std::move(child->ended);
    child = children_.erase(child);
    if (listener.on_end) listener.on_end(number, ended);
  }
}

void ChildPrograms::end_all() {
  for (Child& child : children_) {
    child.requests = 0;
    press(child, SIGTERM, k_patience_at_end_s);
  }
  while (!children_.empty()) {
    for (auto child = children_.begin(); child != children_.end();) {
      const bool has_gone = has_ended(*child);
      read_output(*child, {});
      if (has_gone) {
        child = children_.erase(child);
      } else {
        press(*child++, SIGTERM, k_patience_at_end_s);
      }
    }
    pause_thread(k_child_poll_s);
  }
}

}  // namespace steptune::mcp
