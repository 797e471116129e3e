// SPDX-License-Identifier: Apache-2.0
#include "tuner/serve/study_site.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "tuner/report/html/html_report.hpp"
#include "tuner/serve/access.hpp"
#include "tuner/serve/http_server.hpp"
#include "tuner/serve/index_page.hpp"
#include "tuner/serve/metrics.hpp"

namespace steptune {
namespace {

constexpr const char* k_html = "text/html; charset=utf-8";
constexpr const char* k_text = "text/plain; charset=utf-8";
constexpr const char* k_json = "application/json";

/// Allows only the pages' own scripts and styles, whatever a text of a study contains.
constexpr const char* k_served_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

/// A client that disappeared is noticed only by writing to it.
constexpr double k_sign_of_life_s = 5.0;
void set_security_headers(httplib::Response& response) {
  response.set_header("Content-Security-Policy", k_served_policy);
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("Cross-Origin-Resource-Policy", "same-origin");
  response.set_header("Cross-Origin-Opener-Policy", "same-origin");
  response.set_header("Cache-Control", "no-store");
}

void refuse(httplib::Response& response, int status, const std::string& why) {
  response.status = status;
  response.set_content("steptune: " + why + "\n", k_text);
}

int http_status(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::not_found:
      return 404;
    case ErrorKind::usage:
      return 413;
    default:
      return 503;
  }
}

const char* title_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::not_found:
      return "Not found";
    case ErrorKind::unavailable:
      return "Not now";
    default:
      return "The database cannot be read";
  }
}

void answer_problem(httplib::Response& response, const Error& error) {
  const bool is_absent = error.kind == ErrorKind::not_found;
  response.status = is_absent ? 404 : 503;
  // Let the browser load the page again after 5 s, because the database may be available again.
  response.set_header("Refresh", "5");
  response.set_content(problem_page(title_of(error.kind), error.text()), k_html);
}

void answer_text(httplib::Response& response, const Result<std::string>& text, const char* type) {
  if (!text) return answer_problem(response, text.error());
  response.status = 200;
  response.set_content(*text, type);
}

std::optional<std::int64_t> id_from_text(std::string_view text) {
  std::int64_t id = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (fault != std::errc() || end != text.data() + text.size() || id < 1) return std::nullopt;
  return id;
}

/// Returns `path` without `prefix`; nullopt if `path` does not start with `prefix`.
std::optional<std::string_view> after(std::string_view path, std::string_view prefix) {
  if (!path.starts_with(prefix)) return std::nullopt;
  return path.substr(prefix.size());
}

void answer_asset(std::string_view name, httplib::Response& response) {
  const auto& assets = page_assets();
  const auto asset = std::ranges::find(assets, name, &PageAsset::name);
  if (asset == assets.end()) return refuse(response, 404, "there is nothing at this address");
  response.status = 200;
  response.set_content(asset->text, asset->type);
}

}  // namespace

StudySite::StudySite(SiteOptions options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      cookie_(fmt::format("steptune_{}", options_.port)),
      watch_(options_.database),
      pages_(options_.database, options_.database_option, watch_) {}

void StudySite::answer(const httplib::Request& request, httplib::Response& response) {
  set_security_headers(response);
  if (request.get_header_value_count("Host") != 1 ||
      !is_local_host(request.get_header_value("Host"))) {
    return refuse(response, 403, "only 127.0.0.1 and localhost are served");
  }
  if (request.method != "GET" && request.method != "HEAD") {
    response.set_header("Allow", "GET, HEAD");
    return refuse(response, 405, "nothing can be changed here: GET and HEAD only");
  }
  if (!has_token(request)) {
    response.set_header("WWW-Authenticate", "Bearer realm=\"steptune\"");
    return refuse(response, 401, "open the address that `steptune serve` printed: it has a token");
  }
  answer_page(request, response);
}

bool StudySite::has_token(const httplib::Request& request) const {
  const auto fits = [&](std::string_view text) {
    return equal_in_constant_time(text, options_.token);
  };
  if (request.has_param("token") && fits(request.get_param_value("token"))) return true;
  const std::string authorization = request.get_header_value("Authorization");
  if (const auto bearer = after(authorization, "Bearer "); bearer && fits(*bearer)) return true;
  const auto [first, last] = request.headers.equal_range("Cookie");
  return std::any_of(first, last, [&](const auto& header) {
    const auto cookie = cookie_value(header.second, cookie_);
    return cookie && fits(*cookie);
  });
}

void StudySite::answer_page(const httplib::Request& request, httplib::Response& response) {
  const std::string& path = request.path;
  const auto study = after(path, "/studies/");
  const auto page_id = id_from_text(study.value_or(""));
  if (request.has_param("token") && (path == "/" || page_id)) {
    // Move the token from the address into a cookie, so that the browser's history, bookmarks and
    // screenshots do not contain it.
    response.set_header("Set-Cookie", fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict",
                                                  cookie_, options_.token));
    return response.set_redirect(page_id ? fmt::format("/studies/{}", *page_id) : "/", 303);
  }
  if (path == "/") {
    const auto version = watch_.version(std::nullopt);
    const auto figures = pages_.all_figures();
    if (!figures) return answer_problem(response, figures.error());
    return answer_text(
        response, index_page(*figures, {fmt::format("/events?since={}", version.value_or(""))}),
        k_html);
  }
  if (path == "/metrics") {
    const auto figures = pages_.all_figures();
    if (!figures) return refuse(response, 503, figures.error().text());
    return answer_text(response, metrics_text(*figures, options_.program_version), k_metrics_type);
  }
  if (path == "/api/studies") {
    const auto figures = pages_.all_figures();
    if (!figures) return refuse(response, 503, figures.error().text());
    std::vector<ListedStudy> listed;
    for (const StudyFigures& each : *figures)
      listed.push_back(each.listed);
    return answer_text(response, dump_json(study_list_json(listed)), k_json);
  }
  if (path == "/events") return stream_changes(std::nullopt, request, response);
  if (const auto name = after(path, k_asset_folder)) return answer_asset(*name, response);
  const auto in_api = after(path, "/api/studies/");
  const std::string_view rest = study ? *study : in_api.value_or("");
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const auto id = id_from_text(rest.substr(0, slash));
  if (!id) return refuse(response, 404, "there is nothing at this address");
  const std::string_view what = study ? rest.substr(slash) : slash == rest.size() ? "json" : "?";
  answer_study(*id, what, request, response);
}

void StudySite::answer_study(std::int64_t id, std::string_view what,
                             const httplib::Request& request, httplib::Response& response) {
  if (what.empty()) return answer_text(response, pages_.page(id), k_html);
  if (what == "/events") return stream_changes(id, request, response);
  if (what != "json") return refuse(response, 404, "there is nothing at this address");
  const auto text = pages_.leaderboard_text(id);
  if (text) return answer_text(response, text, k_json);
  refuse(response, http_status(text.error().kind), text.error().text());
}

void StudySite::stream_changes(std::optional<std::int64_t> id, const httplib::Request& request,
                               httplib::Response& response) {
  struct Place {
    explicit Place(std::atomic<int>& streams) : taken(streams), number(++streams) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { --taken; }
    std::atomic<int>& taken;
    const int number;
  };
  const auto place = std::make_shared<Place>(streams_);
  // Each stream occupies a thread; half of the threads stay free for other requests.
  if (std::cmp_greater(place->number, k_server_threads / 2)) {
    response.set_header("Retry-After", "60");
    return refuse(response, 503, "too many pages are open");
  }
  struct Sent {
    std::string version;
    std::string fault;
    double at_s = -k_infinity;
  };
  auto sent = std::make_shared<Sent>();
  // A browser that reconnects sends the version that it saw last.
  sent->version = request.has_header("Last-Event-ID") ? request.get_header_value("Last-Event-ID")
                                                      : request.get_param_value("since");
  response.status = 200;
  response.set_chunked_content_provider(
      "text/event-stream", [this, id, place, sent](std::size_t, httplib::DataSink& sink) {
        if (!sink.is_writable()) return false;
        std::string text = news(id, sent->version, sent->fault);
        const double now_s = clock_.now_s();
        if (text.empty() && now_s - sent->at_s >= k_sign_of_life_s) text = ": alive\n\n";
        if (!text.empty()) {
          sent->at_s = now_s;
          if (!sink.write(text.data(), text.size())) return false;
        }
        if (!pause_between_polls()) sink.done();
        return true;
      });
}

std::string StudySite::news(std::optional<std::int64_t> id, std::string& version,
                            std::string& fault) {
  const auto now = watch_.version(id);
  if (!now) {
    const std::string text = now.error().message;
    if (text == fault) return {};
    fault = text;
    return fmt::format("event: fault\ndata: {}\n\n", text);
  }
  if (*now == version && fault.empty()) return {};
  fault.clear();
  version = *now;
  return fmt::format("id: {0}\nevent: changed\ndata: {0}\n\n", version);
}

bool StudySite::pause_between_polls() {
  using namespace std::chrono_literals;
  std::unique_lock lock(stopping_);
  return !stopped_.wait_for(lock, 1s, [this] { return is_stopping_; });
}

void StudySite::stop() {
  {
    const std::lock_guard lock(stopping_);
    is_stopping_ = true;
  }
  stopped_.notify_all();
}

}  // namespace steptune
