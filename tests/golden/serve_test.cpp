// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <csignal>
#include <filesystem>
#include <list>
#include <regex>
#include <thread>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "common/json.hpp"
#include "tests/golden/browser.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/raw_client.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

using testing::HasSubstr;
using testing::Not;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Runs `steptune serve` on a free port, with one finished study.
class Serve : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_.write("study.json", replay_study());
    ASSERT_EQ(sandbox_.steptune({"run", "study.json", "--quiet"}).exit_code, 0);
    start({});
  }
  void TearDown() override {
    if (pid_ <= 0) return;
    EXPECT_EQ(end(SIGTERM).exit_code, 143);
  }

  void start(const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"serve", "--port", "0"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    pid_ = sandbox_.start(arguments);
    ASSERT_TRUE(sandbox_.until_err_contains("Ctrl-C ends it"));
    static const std::regex k_address(R"(http://127\.0\.0\.1:(\d+)/\?token=([0-9a-z]{32})\n)");
    std::smatch parts;
    const std::string printed = sandbox_.read("out.txt");
    ASSERT_TRUE(std::regex_match(printed, parts, k_address)) << printed;
    port_ = std::stoi(parts[1]);
    token_ = parts[2];
  }
  [[nodiscard]] Ended end(int signal) {
    ::kill(pid_, signal);
    Ended ended = sandbox_.wait(pid_);
    pid_ = -1;
    return ended;
  }

  [[nodiscard]] std::string request(const std::string& path,
                                    const std::string& method = "GET") const {
    return method + " " + path + " HTTP/1.1\r\nHost: localhost:" + std::to_string(port_) +
           "\r\nAuthorization: Bearer " + token_ + "\r\n\r\n";
  }
  [[nodiscard]] std::string get(const std::string& path) const {
    return raw_exchange(port_, request(path));
  }
  /// Sends a request with these lines and without a token.
  [[nodiscard]] std::string send(const std::string& path, const std::string& lines) const {
    return raw_exchange(port_, "GET " + path + " HTTP/1.1\r\n" + lines + "\r\n");
  }
  void expect_alive() const { EXPECT_EQ(status_of(get("/studies/1")), 200); }

  Sandbox sandbox_;
  pid_t pid_ = -1;
  int port_ = 0;
  std::string token_;
};

TEST_F(Serve, ShowsTheSamePageAsTheReport) {
  ASSERT_EQ(sandbox_.program({steptune_program(), "report", "--html", "report.html"}).exit_code, 0);
  const std::string report = sandbox_.read("report.html");
  const std::string page = get("/studies/1");
  const auto part = [](const std::string& text, const std::string& begin, const std::string& end) {
    const std::size_t at = text.find(begin);
    return at == std::string::npos ? "none" : text.substr(at, text.find(end, at) - at);
  };
  EXPECT_EQ(part(page, "<main>", "</main>"), part(report, "<main>", "</main>"));
  EXPECT_EQ(part(page, "id=\"data\">", "</script>"), part(report, "id=\"data\">", "</script>"));
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'"));
  EXPECT_THAT(page, Not(HasSubstr("<style")));
  const std::string index = get("/");
  EXPECT_THAT(index, HasSubstr("<a href=\"/studies/1\">demo</a>"));
  EXPECT_THAT(index, HasSubstr("confirmed"));
  for (const char* asset : {"report.css", "d3.js", "tables.js", "chart_parts.js", "trial_charts.js",
                            "charts.js", "live.js"}) {
    EXPECT_EQ(status_of(get("/assets/" + std::string(asset))), 200) << asset;
    EXPECT_EQ(page.find(asset) != std::string::npos, true) << asset;
  }
  const std::string metrics = get("/metrics");
  EXPECT_THAT(metrics, HasSubstr("steptune_trials{study=\"demo\",state=\"completed\"}"));
  const std::string studies = get("/api/studies");
  EXPECT_EQ(Json::parse(studies.substr(studies.find("\r\n\r\n") + 4)),
            Json::parse(sandbox_.program({steptune_program(), "studies", "--json"}).out));
  const std::string head = raw_exchange(port_, request("/studies/1", "HEAD"));
  EXPECT_EQ(status_of(head), 200);
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << "no body";
}

TEST_F(Serve, WorksInABrowser) {
  if (!has_browser()) GTEST_SKIP() << k_no_browser;
  const std::string address = "http://127.0.0.1:" + std::to_string(port_);
  for (const std::string path : {"/studies/1", "/"}) {
    const Ended browser = document_in_browser(sandbox_, address + path + "?token=" + token_);
    ASSERT_EQ(browser.exit_code, 0) << browser.err;
    EXPECT_THAT(browser.err, Not(HasSubstr("CONSOLE")))
        << "the content security policy blocks nothing";
    EXPECT_THAT(browser.out, testing::AnyOf(HasSubstr("aria-live=\"off\">live</p>"),
                                            HasSubstr("aria-live=\"off\">connecting</p>")))
        << "screen readers do not read text that changes often";
    EXPECT_EQ(browser.out.find("<path class=\"mark") != std::string::npos, path != "/");
  }
}

TEST_F(Serve, AnErrorPageWaitsForNoEvents) {
  if (!has_browser()) GTEST_SKIP() << k_no_browser;
  const std::string address = "http://127.0.0.1:" + std::to_string(port_);
  const Ended browser = document_in_browser(sandbox_, address + "/studies/99?token=" + token_);
  ASSERT_EQ(browser.exit_code, 0) << browser.err;
  EXPECT_THAT(browser.out, HasSubstr("there is no study with the id 99"));
  EXPECT_THAT(browser.out, HasSubstr("<p id=\"live\" role=\"status\"></p>"));
}

TEST_F(Serve, APageThatCouldNotBeFetchedIsFetchedAgain) {
  if (!has_browser()) GTEST_SKIP() << k_no_browser;
  const std::string script = get("/assets/live.js");
  sandbox_.write("live.js", script.substr(script.find("\r\n\r\n") + 4));
  // The study and its events end while the database is locked for a moment.
  sandbox_.write("page.html", R"(<!DOCTYPE html><body data-events="/events"><header>
<p id="live" role="status"></p></header><main><section id="a"></section><section id="c"></section>
</main><pre id="waits"></pre><script>
var source;
window.EventSource = function () { source = this; this.on = {}; };
EventSource.prototype.addEventListener = function (name, call) { this.on[name] = call; };
var answers = [503, 200];
window.fetch = function () {
  var status = answers.shift();
  return Promise.resolve({ok: status === 200, status: status, text: function () {
    return Promise.resolve("<title>the end</title><header><p id='live'></p></header><main>" +
        "<section id='a'></section><section id='b'></section><section id='c'></section></main>");
  }});
};
window.setTimeout = function (call, after) {
  document.getElementById("waits").textContent += after >= 5000 ? "long " : "short ";
  call();
};
</script><script src="live.js"></script><script>source.on.changed();</script></body>)");
  const Ended browser =
      document_in_browser(sandbox_, "file://" + (sandbox_.folder() / "page.html").string());
  ASSERT_EQ(browser.exit_code, 0) << browser.err;
  EXPECT_THAT(browser.out, HasSubstr("<title>the end</title>")) << browser.out;
  EXPECT_THAT(browser.out, HasSubstr("live, as of "));
  EXPECT_THAT(browser.out, HasSubstr(">long short </pre>"));
  EXPECT_THAT(browser.out, HasSubstr("<section id=\"a\"></section><section id=\"b\"></section>"))
      << "a new section is in its place";
}

TEST_F(Serve, NeedsTheToken) {
  const std::string host = "Host: 127.0.0.1:" + std::to_string(port_) + "\r\n";
  const std::string cookie = "steptune_" + std::to_string(port_) + "=";
  const std::string wrong(32, '0');
  for (const std::string path : {"/", "/studies/1", "/studies/1/events", "/events", "/metrics",
                                 "/api/studies", "/assets/d3.js", "/nothing"}) {
    EXPECT_EQ(status_of(send(path, host)), 401) << path;
    EXPECT_EQ(status_of(send(path + "?token=" + wrong, host)), 401) << path;
    EXPECT_EQ(status_of(send(path + "?token=", host)), 401) << path;
    EXPECT_EQ(status_of(send(path + "?Token=" + token_, host)), 401) << path;
    EXPECT_EQ(status_of(send(path + "?token=" + token_ + "0", host)), 401) << path;
    EXPECT_EQ(status_of(send(path, host + "Cookie: " + cookie + wrong + "\r\n")), 401) << path;
    EXPECT_EQ(status_of(send(path, host + "Cookie: token=" + token_ + "\r\n")), 401) << path;
    EXPECT_EQ(status_of(send(path, host + "Authorization: Basic " + token_ + "\r\n")), 401) << path;
    EXPECT_THAT(send(path, host), Not(HasSubstr("demo"))) << path;
  }
  const std::string redirect = send("/studies/1?token=" + token_, host);
  EXPECT_EQ(status_of(redirect), 303);
  EXPECT_THAT(redirect, HasSubstr("Location: /studies/1\r\n"));
  EXPECT_THAT(redirect, HasSubstr("Set-Cookie: " + cookie + token_ +
                                  "; Path=/; HttpOnly; SameSite=Strict\r\n"));
  EXPECT_EQ(status_of(send("/studies/1", host + "Cookie: a=b; " + cookie + token_ + "\r\n")), 200);
  EXPECT_EQ(status_of(send("/metrics?token=" + token_, host)), 200);
}

TEST_F(Serve, AnswersOnlyToItsOwnName) {
  const std::string token = "Authorization: Bearer " + token_ + "\r\n";
  for (const std::string host :
       {"Host: evil.example\r\n", "Host: 127.0.0.1.evil.example\r\n", "Host: 192.168.0.1\r\n",
        "Host: \r\n", "Host: localhost\r\nHost: evil.example\r\n",
        "X-Forwarded-Host: localhost\r\n", ""}) {
    const std::string answer = send("/studies/1", token + host);
    EXPECT_EQ(status_of(answer), 403) << host;
    EXPECT_THAT(answer, Not(HasSubstr("demo")));
  }
  const std::string absolute = send("http://evil.example/studies/1", token + "Host: localhost\r\n");
  EXPECT_THAT(absolute, Not(HasSubstr("demo")));
  EXPECT_EQ(status_of(send("/studies/1", token + "Host: LOCALHOST:1\r\n")), 200);
}

TEST_F(Serve, TakesGetAndHeadOnly) {
  const std::string before = sandbox_.read(".steptune/history.db");
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"}) {
    for (const char* path : {"/", "/studies/1", "/metrics", "/api/studies"}) {
      const std::string answer = raw_exchange(port_, request(path, method));
      EXPECT_EQ(status_of(answer), 405) << method;
      EXPECT_THAT(answer, HasSubstr("Allow: GET, HEAD\r\n")) << method;
    }
  }
  const std::string with_body =
      raw_exchange(port_, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n" +
                              std::string(50'000, 'x'));
  EXPECT_EQ(status_of(with_body), 405);
  // Names that are not methods of HTTP.
  for (const char* method : {"PROPFIND", "get", "DEL", "X", "GET\tX", "\x16\x03\x01"})
    EXPECT_EQ(status_of(raw_exchange(port_, request("/studies/1", method))), 400) << method;
  EXPECT_EQ(sandbox_.read(".steptune/history.db"), before);
  expect_alive();
}

TEST_F(Serve, HasNoFiles) {
  const std::vector<std::string> paths{"/../../../../etc/passwd",
                                       "/assets/../../../../etc/passwd",
                                       "/%2e%2e/%2e%2e/etc/passwd",
                                       "/assets/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
                                       "/assets/%252e%252e%252fetc%252fpasswd",
                                       "/assets/..%5c..%5cetc%5cpasswd",
                                       "/assets/..\\..\\etc\\passwd",
                                       "/assets/....//....//etc/passwd",
                                       "/studies/../.steptune/history.db",
                                       "/studies/1/../../etc/passwd",
                                       "/.steptune/history.db",
                                       "/studies/%2fetc%2fpasswd",
                                       "/assets//etc/passwd",
                                       "/assets/%c0%ae%c0%ae/etc/passwd",
                                       "/assets/report.css%00.html",
                                       "/assets/report.css/",
                                       "//etc/passwd",
                                       "/file:///etc/passwd",
                                       "/studies/1%00",
                                       "/studies/1;x",
                                       "/studies/1'--",
                                       "/studies/1 OR 1=1",
                                       "/studies/1%0d%0aX: y",
                                       "/?path=../../etc/passwd",
                                       "/studies/\xff\xfe",
                                       "/assets/" + std::string(4000, '/')};
  for (const std::string& path : paths) {
    const std::string answer = get(path);
    EXPECT_THAT(answer, Not(HasSubstr("root:"))) << path;
    EXPECT_THAT(answer, Not(HasSubstr("SQLite format"))) << path;
    EXPECT_THAT(answer, Not(HasSubstr("\r\nX: y"))) << path;
    if (path.starts_with("/?")) continue;
    EXPECT_GE(status_of(answer), 400) << path;
    EXPECT_LT(status_of(answer), 500) << path;
  }
  expect_alive();
}

TEST_F(Serve, RefusesWhatIsTooLong) {
  const std::string host = "Host: localhost\r\nAuthorization: Bearer " + token_ + "\r\n";
  EXPECT_EQ(status_of(send("/" + std::string(10'000, 'a'), host)), 414);
  EXPECT_EQ(status_of(send("/", host + "X: " + std::string(10'000, 'a') + "\r\n")), 400);
  EXPECT_EQ(status_of(send("/", host + "Cookie: " + std::string(10'000, ';') + "\r\n")), 400);
  std::string many;
  for (int i = 0; i < 20'000; ++i)
    many += "X-" + std::to_string(i) + ": y\r\n";
  EXPECT_NE(status_of(send("/", host + many)), 200);
  // A line that never ends. The server reads no more than a request's limit.
  const RawClient endless(port_);
  for (int i = 0; i < 1000 && endless.send(std::string(10'000, 'a')); ++i) {
  }
  EXPECT_NE(status_of(endless.all(1.0)), 200);
  std::string ranges = "bytes=0-1";
  while (ranges.size() < 8'000)
    ranges += ",0-1";
  EXPECT_LT(get("/assets/d3.js").size() / 2,
            send("/assets/d3.js", host + "Range: " + ranges + "\r\n").size());
  EXPECT_LT(send("/assets/d3.js", host + "Range: " + ranges + "\r\n").size(),
            2 * get("/assets/d3.js").size())
      << "no part is sent twice";
  expect_alive();
}

TEST_F(Serve, ContinuesWhateverOthersDoWithTheirConnections) {
  std::list<RawClient> others;
  for (int i = 0; i < 150; ++i) {
    others.emplace_back(port_);
    others.back().send(i % 3 == 0   ? ""
                       : i % 3 == 1 ? "GET /studies/1 HT"
                                    : request("/").substr(0, 60));
  }
  // Clients that send requests but do not read.
  for (int i = 0; i < 20; ++i) {
    others.emplace_back(port_);
    others.back().send(request("/assets/d3.js"));
  }
  // Open pages.
  for (int i = 0; i < 20; ++i) {
    others.emplace_back(port_);
    others.back().send(request("/events"));
  }
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    expect_alive();
    EXPECT_LT(seconds_since(begin), 5.0);
  }
}

TEST_F(Serve, BoundsTheNumberOfOpenPages) {
  std::list<RawClient> pages;
  for (int i = 0; i < 32; ++i) {
    pages.emplace_back(port_);
    pages.back().send(request("/events"));
    ASSERT_THAT(pages.back().until("changed"), HasSubstr("changed"));
  }
  EXPECT_EQ(status_of(get("/events")), 503);
  expect_alive();
  pages.clear();
  for (int i = 0; i < 100; ++i) {
    const RawClient page(port_);
    page.send(request("/events"));
    if (status_of(page.until("\r\n")) == 200) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  FAIL() << "places of pages that were closed are not given back";
}

TEST_F(Serve, SendsNewTrialsToOpenPages) {
  const RawClient page(port_);
  page.send(request("/studies/1/events"));
  EXPECT_THAT(page.until("changed"), HasSubstr("Content-Type: text/event-stream"));
  const RawClient all(port_);
  all.send(request("/events"));
  EXPECT_THAT(all.until("changed"), HasSubstr("changed"));

  std::string longer = replay_study();
  longer.replace(longer.find("\"trials\": 12"), 12, "\"trials\": 20");
  sandbox_.write("study.json", longer);
  ASSERT_EQ(sandbox_.program({steptune_program(), "run", "study.json", "--quiet"}).exit_code, 0);
  EXPECT_THAT(page.until("changed"), HasSubstr("event: changed"));
  EXPECT_THAT(all.until("changed"), HasSubstr("event: changed"));
  const auto rows = [](const std::string& text) {
    int count = 0;
    for (std::size_t at = text.find("<tr data-trial"); at != std::string::npos;
         at = text.find("<tr data-trial", at + 1))
      ++count;
    return count;
  };
  EXPECT_GE(rows(get("/studies/1")), 20);
  // Drops pending events. The server may have polled several times during the tuning.
  (void)page.all(2.5);

  longer.replace(longer.find("\"demo\""), 6, "\"another\"");
  sandbox_.write("study.json", longer);
  ASSERT_EQ(sandbox_.program({steptune_program(), "run", "study.json", "--quiet"}).exit_code, 0);
  EXPECT_THAT(all.until("changed"), HasSubstr("event: changed"));
  EXPECT_THAT(page.all(2.5), Not(HasSubstr("changed")))
      << "a change of another study does not count";
  EXPECT_THAT(get("/"), HasSubstr("another"));
}

TEST_F(Serve, ReportsAnUnreadableDatabaseAndRecovers) {
  const auto database = sandbox_.folder() / ".steptune/history.db";
  {
    SQLite::Database holder(database.string(), SQLite::OPEN_READWRITE);
    holder.exec("PRAGMA locking_mode = EXCLUSIVE");
    holder.exec("BEGIN EXCLUSIVE");
    const std::string locked = get("/studies/1");
    EXPECT_EQ(status_of(locked), 503);
    EXPECT_THAT(locked, HasSubstr("The database cannot be read"));
    EXPECT_THAT(locked, HasSubstr("Refresh: 5"));
    EXPECT_EQ(status_of(get("/metrics")), 503);
  }
  expect_alive();
  const RawClient page(port_);
  page.send(request("/studies/1/events"));
  EXPECT_THAT(page.until("changed"), HasSubstr("changed"));
  std::filesystem::rename(database, sandbox_.folder() / "away.db");
  const std::string absent = get("/");
  EXPECT_EQ(status_of(absent), 404);
  EXPECT_THAT(absent, HasSubstr("no history found"));
  EXPECT_THAT(page.until("fault"), HasSubstr("event: fault\ndata: no history found"));
  sandbox_.write(".steptune/history.db",
                 "this is no database, and it is long enough to be read as one");
  EXPECT_EQ(status_of(get("/studies/1")), 503);
  std::filesystem::rename(sandbox_.folder() / "away.db", database);
  EXPECT_THAT(page.until("changed"), HasSubstr("event: changed"));
  expect_alive();
}

TEST_F(Serve, EndsAtOnceWithPagesOpen) {
  std::list<RawClient> pages;
  for (int i = 0; i < 20; ++i) {
    pages.emplace_back(port_);
    pages.back().send(i % 2 == 0 ? request("/events") : "GET / HT");
  }
  EXPECT_THAT(pages.front().until("changed"), HasSubstr("changed"));
  const auto begin = std::chrono::steady_clock::now();
  const Ended ended = end(SIGINT);
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_LT(seconds_since(begin), 2.0);
  EXPECT_EQ(ended.err,
            "serving .steptune/history.db to whoever has this address, on this machine "
            "only; Ctrl-C ends it\n");
  EXPECT_THAT(ended.out, Not(HasSubstr("GET"))) << "requests hold the token";
}

TEST_F(Serve, KeepsATokenInAFile) {
  EXPECT_EQ(end(SIGTERM).exit_code, 143);
  start({"--token-file", "token"});
  EXPECT_EQ(sandbox_.read("token"), token_ + "\n");
  struct stat status {};
  ASSERT_EQ(::stat((sandbox_.folder() / "token").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  const std::string first = token_;
  EXPECT_EQ(end(SIGTERM).exit_code, 143);
  start({"--token-file", "token"});
  EXPECT_EQ(token_, first);
  expect_alive();

  EXPECT_EQ(end(SIGTERM).exit_code, 143);
  const auto readable = sandbox_.folder() / "my token";
  std::filesystem::rename(sandbox_.folder() / "token", readable);
  std::filesystem::permissions(readable, std::filesystem::perms(0644));
  start({"--token-file", "my token"});
  EXPECT_THAT(sandbox_.read("err.txt"), HasSubstr("may read my token: chmod 600 'my token'\n"));

  sandbox_.write("short", "secret\n");
  const Ended refused =
      sandbox_.program({steptune_program(), "serve", "--port", "0", "--token-file", "short"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("has no valid token"));
  EXPECT_THAT(refused.err, Not(HasSubstr("secret")));
}

TEST_F(Serve, LeavesNoTokenFileWithoutAToken) {
  // Lets SQLite create its files beside the database, since the next server cannot write files.
  expect_alive();
  const Ended full = sandbox_.program(
      {"timeout", "20", "/bin/sh", "-c",
       R"((trap '' XFSZ; ulimit -f 0; exec "$0" serve --port 0 --token-file kept/token) 2>&1 | cat)",
       steptune_program()});
  EXPECT_THAT(full.out, HasSubstr("kept/token: cannot be written: File too large\n"));
  EXPECT_THAT(full.out, HasSubstr("--token-file"));
  EXPECT_TRUE(std::filesystem::is_empty(sandbox_.folder() / "kept"));

  EXPECT_EQ(end(SIGTERM).exit_code, 143);
  start({"--token-file", "kept/token"});
  EXPECT_EQ(sandbox_.read("kept/token"), token_ + "\n");
}

TEST_F(Serve, PrintsItsAddressForScripts) {
  EXPECT_EQ(end(SIGTERM).exit_code, 143);
  pid_ = sandbox_.start({"serve", "--port", "0", "--json"});
  ASSERT_TRUE(sandbox_.until_err_contains("Ctrl-C ends it"));
  const Json printed = Json::parse(sandbox_.read("out.txt"));
  EXPECT_EQ(printed["schema_version"], 1);
  port_ = printed["port"];
  token_ = printed["token"];
  EXPECT_EQ(printed["address"], "http://127.0.0.1:" + std::to_string(port_) + "/?token=" + token_);
  expect_alive();
}

TEST_F(Serve, SaysWhyItCannotBegin) {
  const std::string port = std::to_string(port_);
  const Ended taken = sandbox_.program({steptune_program(), "serve", "--port", port});
  EXPECT_EQ(taken.exit_code, 1);
  EXPECT_THAT(taken.err, HasSubstr("cannot listen on port " + port));
  EXPECT_THAT(taken.err, HasSubstr("--port"));
  const Ended absent = sandbox_.program({steptune_program(), "serve", "--db", "none.db"});
  EXPECT_EQ(absent.exit_code, 1);
  EXPECT_THAT(absent.err, HasSubstr("no history found"));
  EXPECT_EQ(sandbox_.program({steptune_program(), "serve", "--port", "65536"}).exit_code, 2);
}

}  // namespace
}  // namespace steptune::golden
