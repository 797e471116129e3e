// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/browser.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

Json data_of(const std::string& page) {
  const std::string begin = "id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return Json::parse(page.substr(at, page.find("</script>", at) - at));
}

/// Returns the part of the document with the chart `id`.
std::string figure_of(const std::string& document, const std::string& id) {
  const std::size_t at = document.find("id=\"" + id + "\"");
  return at == std::string::npos ? "" : document.substr(at, document.find("</figure>", at) - at);
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

/// Returns the position of each trial in the chart (from the left, from above), by number.
std::map<int, std::pair<double, double>> places_of(const std::string& figure) {
  static const std::regex k_mark(
      "<path "
      "class=\"mark[^>]*data-trial=\"(\\d+)\"[^>]*transform=\"translate\\(([^,]+),([^)]+)\\)");
  std::map<int, std::pair<double, double>> places;
  for (auto it = std::sregex_iterator(figure.begin(), figure.end(), k_mark);
       it != std::sregex_iterator(); ++it) {
    places[std::stoi((*it)[1])] = {std::stod((*it)[2]), std::stod((*it)[3])};
  }
  return places;
}

/// Values and their positions in pixels.
using Shown = std::vector<std::pair<double, double>>;

enum class Axis { linear, logarithmic };

/// Returns the largest distance between a value's position and its place on an axis. The positions
/// of the least and the greatest value define the axis. Infinite if these two are equal.
double pixels_off(const Shown& shown, Axis axis) {
  const auto [least, greatest] = std::minmax_element(shown.begin(), shown.end());
  const auto on_axis = [axis](double value) {
    return axis == Axis::linear ? value : std::log(value);
  };
  if (least->first == greatest->first) return std::numeric_limits<double>::infinity();
  const double from = on_axis(least->first);
  const double scale = (greatest->second - least->second) / (on_axis(greatest->first) - from);
  double most = 0.0;
  for (const auto& [value, at] : shown)
    most = std::max(most, std::abs(least->second + scale * (on_axis(value) - from) - at));
  return most;
}

/// Returns the distance for the axis that fits better. Zero has no place on a logarithmic axis.
double pixels_off_an_axis(const Shown& shown) {
  const double linear = pixels_off(shown, Axis::linear);
  const bool is_positive = std::ranges::min(shown).first > 0.0;
  return is_positive ? std::min(linear, pixels_off(shown, Axis::logarithmic)) : linear;
}

/// Returns the drawings of a figure in order, without the small ones of its legend.
std::vector<std::string> drawings_of(const std::string& figure) {
  std::vector<std::string> drawings;
  for (std::size_t at = figure.find("<svg "); at != std::string::npos;) {
    const std::size_t next = figure.find("<svg ", at + 1);
    const std::string drawing = figure.substr(at, next - at);
    if (drawing.find("aria-label=") != std::string::npos) drawings.push_back(drawing);
    at = next;
  }
  return drawings;
}

/// Returns the groups of each match as numbers.
std::vector<std::vector<double>> numbers_in(const std::string& text, const std::regex& pattern) {
  std::vector<std::vector<double>> numbers;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), pattern);
       it != std::sregex_iterator(); ++it) {
    std::vector<double>& groups = numbers.emplace_back();
    for (std::size_t i = 1; i < it->size(); ++i)
      groups.push_back(std::stod((*it)[i]));
  }
  return numbers;
}

/// Returns the corners of the path whose attributes start like this; none if there is no such path.
Shown corners_of(const std::string& figure, const std::string& attributes) {
  const std::size_t at = figure.find("<path " + attributes);
  if (at == std::string::npos) return {};
  const std::size_t begin = figure.find(" d=\"", at) + 4;
  static const std::regex k_corner("([-0-9.e]+),([-0-9.e]+)");
  Shown corners;
  for (const auto& corner :
       numbers_in(figure.substr(begin, figure.find('"', begin) - begin), k_corner))
    corners.emplace_back(corner[0], corner[1]);
  return corners;
}

/// Returns a number in a row of a bar chart; nullopt if it is missing.
std::optional<double> number_of(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_number() ? std::optional(found->get<double>())
                                                  : std::nullopt;
}

/// Checks that bars and their intervals start and end at the chart's values on the axis.
void expect_bars(const Json& chart, const std::string& drawing) {
  static const std::regex k_bar("<rect class=\"bar [^>]* x=\"([^\"]*)\" width=\"([^\"]*)\"");
  static const std::regex k_interval(
      "<path class=\"bar-interval\" d=\"M([^,]+),19v7M[^,]+,22\\.5H([^M]+)M");
  const auto bars = numbers_in(drawing, k_bar);
  const auto intervals = numbers_in(drawing, k_interval);
  const Json& rows = chart["rows"];
  const bool is_log = chart.value("log", false);
  ASSERT_EQ(bars.size(), rows.size());
  Shown shown;
  std::size_t shown_count = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double from = number_of(rows[i], "from").value_or(is_log ? 1.0 : 0.0);
    const auto [left, right] = std::minmax({from, rows[i]["to"].get<double>()});
    shown.emplace_back(left, bars[i][0]);
    shown.emplace_back(right, bars[i][0] + bars[i][1]);
    const auto low = number_of(rows[i], "low");
    const auto high = number_of(rows[i], "high");
    if (!low || !high) continue;
    ASSERT_LT(shown_count, intervals.size());
    shown.emplace_back(*low, intervals[shown_count][0]);
    shown.emplace_back(*high, intervals[shown_count][1]);
    ++shown_count;
  }
  EXPECT_EQ(shown_count, intervals.size());
  // The narrowest bar is one pixel wide.
  EXPECT_LT(pixels_off(shown, is_log ? Axis::logarithmic : Axis::linear), 1.0);
}

/// Checks the positions of a parameter's values: numbers by size, texts in separate places.
void expect_parameter(const std::vector<std::pair<Json, double>>& shown) {
  Shown numbers;
  std::map<std::string, double> places;
  for (const auto& [value, at] : shown) {
    if (value.is_number()) numbers.emplace_back(value, at);
    EXPECT_NEAR(places.emplace(value.dump(), at).first->second, at, 0.01) << value;
  }
  EXPECT_GT(places.size(), 1U);
  if (!numbers.empty()) {
    EXPECT_EQ(numbers.size(), shown.size());
    EXPECT_LT(pixels_off_an_axis(numbers), 0.5);
    return;
  }
  for (const auto& [text, at] : places) {
    const auto near = std::ranges::count_if(
        places, [at = at](const auto& other) { return std::abs(other.second - at) < 10.0; });
    EXPECT_EQ(near, 1) << text << " is less than 10 pixels from another value";
  }
}

/// Returns the page with other data.
std::string with_data(std::string page, const Json& data) {
  const std::string begin = "id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return page.replace(at, page.find("</script>", at) - at, data.dump());
}

/// Returns the number of bars in the legend, which show no values.
int legend_bars(const std::string& figure) {
  const std::size_t at = figure.find("class=\"legend\"");
  return at == std::string::npos ? 0 : count_of(figure.substr(at), "<rect class=\"bar ");
}

/// Returns the length of each label's bar.
std::map<std::string, double> bar_widths_of(const std::string& figure) {
  static const std::regex k_bar(
      "<rect class=\"bar [^>]*data-label=\"([^\"]*)\"[^>]*width=\"([^\"]*)\"");
  std::map<std::string, double> widths;
  for (auto it = std::sregex_iterator(figure.begin(), figure.end(), k_bar);
       it != std::sregex_iterator(); ++it) {
    widths.emplace((*it)[1], std::stod((*it)[2]));
  }
  return widths;
}

/// Returns the time that the timeline shows for each trial, over all rows.
std::map<std::string, double> span_widths_of(const std::string& figure) {
  static const std::regex k_span(
      "<rect class=\"span [^>]*?width=\"([^\"]*)\"[^>]*data-trial=\"(\\d+)\"");
  std::map<std::string, double> widths;
  for (auto it = std::sregex_iterator(figure.begin(), figure.end(), k_span);
       it != std::sregex_iterator(); ++it) {
    widths[(*it)[2]] += std::stod((*it)[1]) + 0.6;
  }
  return widths;
}

class HtmlReport : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    sandbox_ = std::make_unique<Sandbox>();
    sandbox_->write("study.json", replay_study());
    ASSERT_EQ(sandbox_->steptune({"run", "study.json", "--quiet"}).exit_code, 0);
    const Ended written = sandbox_->steptune({"report", "demo", "--html", "report.html"});
    ASSERT_EQ(written.exit_code, 0) << written.err;
    EXPECT_EQ(written.err, "wrote report.html\n");
  }
  static void TearDownTestSuite() { sandbox_.reset(); }

  static std::unique_ptr<Sandbox> sandbox_;
};
std::unique_ptr<Sandbox> HtmlReport::sandbox_;

TEST_F(HtmlReport, HasTheTraceOfEveryTrialThatReported) {
  const Json data = data_of(sandbox_->read("report.html"));
  const Ended shown = sandbox_->steptune({"leaderboard", "--all", "--json"});
  const Json board = Json::parse(shown.out);
  ASSERT_EQ(data["trials"].size(), board["rows"].size());
  ASSERT_EQ(data["traces"].size(), board["rows"].size());
  for (const Json& row : board["rows"]) {
    const Json& trace = data["traces"][row["trial"]["number"].dump()];
    EXPECT_LE(trace["seconds"].size(), 500U);
    const double samples = row["trial"]["measurement"]["total_samples"];
    double charted_samples = 0.0;
    for (const Json& step : trace["samples"])
      charted_samples += step.get<double>();
    // The trace continues until the trial is gone, the measurement until the trial is asked to end.
    EXPECT_GE(charted_samples, 0.98 * samples) << "no sample is lost in thinning";
  }
}

TEST_F(HtmlReport, HasEveryDecision) {
  const std::string page = sandbox_->read("report.html");
  const Json shown_study = Json::parse(sandbox_->steptune({"show", "--decisions", "--json"}).out);
  const std::size_t at = page.find("id=\"study-decisions\"");
  ASSERT_NE(at, std::string::npos);
  const std::string table = page.substr(at, page.find("</table>", at) - at);
  EXPECT_EQ(count_of(table, "<tr><td>"), static_cast<int>(shown_study["decisions"].size()));
  for (const Json& decision : shown_study["decisions"])
    EXPECT_NE(table.find("<td>" + decision["kind"].get<std::string>() + "</td>"),
              std::string::npos);
  int stops = 0;
  const Json data = data_of(page);
  ASSERT_FALSE(data["traces"].empty());
  for (const auto& [number, trace] : data["traces"].items()) {
    const Json trial = Json::parse(sandbox_->steptune({"show", "demo", number, "--json"}).out);
    const Json stored = trial["details"]["trace"].value("decisions", Json::array());
    if (stored.empty()) {
      EXPECT_FALSE(trace.contains("decisions"));
      continue;
    }
    EXPECT_EQ(trace["decisions"]["count"], stored.size());
    ASSERT_EQ(trace["decisions"]["latest"].size(), stored.size());
    EXPECT_EQ(trace["decisions"]["latest"].back().value("reason", ""),
              stored.back().value("reason", ""));
    stops += trace["decisions"]["latest"].back().value("stop", false) ? 1 : 0;
  }
  EXPECT_GT(stops, 0);
}

TEST_F(HtmlReport, GoesToStdoutAndFailsForAnUnknownStudy) {
  const Ended page = sandbox_->steptune({"report", "--html", "-"});
  EXPECT_EQ(page.out, sandbox_->read("report.html"));
  EXPECT_EQ(sandbox_->steptune({"report", "dmo", "--html", "x.html"}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(sandbox_->folder() / "x.html"));
  EXPECT_EQ(sandbox_->steptune({"report"}).exit_code, 2);
}

TEST(HtmlReportWithoutACommand, NamesAFormatThatTheStudyHas) {
  const Sandbox sandbox;
  sandbox.write("study.json",
                R"({"name": "model", "parameters": {"a": {"type": "int", "low": 1, "high": 4}},
    "baseline": {"a": 1}, "budget": {"trials": 4}, "search": {"searcher": "grid", "scheduler": "none"},
    "runner": {"type": "replay", "seconds_per_sample": "0.01 / a"}})");
  const Ended run = sandbox.steptune({"run", "study.json", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Ended report = sandbox.steptune({"report", "--html", "-"});
  EXPECT_EQ(count_of(report.out, "<code>steptune best model --format json</code>"), 1);
  EXPECT_EQ(sandbox.steptune({"best", "model", "--format", "json"}).exit_code, 0);
}

TEST_F(HtmlReport, ABrowserDrawsTheData) {
  if (!has_browser()) GTEST_SKIP() << k_no_browser;
  const Ended browser =
      document_in_browser(*sandbox_, "file://" + sandbox_->folder().string() + "/report.html");
  ASSERT_EQ(browser.exit_code, 0) << browser.err;
  EXPECT_EQ(count_of(browser.err, "CONSOLE"), 0) << browser.err;
  const Json data = data_of(sandbox_->read("report.html"));
  int measured = 0;
  int searched = 0;
  for (const Json& trial : data["trials"]) {
    const bool has_value = !trial["values"].empty() && trial["values"][0].is_number();
    measured += has_value ? 1 : 0;
    const std::string purpose = trial["purpose"].get<std::string>();
    const bool repeats = purpose.starts_with("confirm") || purpose == "sentinel";
    searched += has_value && !repeats ? 1 : 0;
  }
  ASSERT_GT(searched, 5);
  const std::string history = figure_of(browser.out, "history");
  EXPECT_EQ(count_of(history, "<path class=\"mark"), measured);
  EXPECT_EQ(count_of(figure_of(browser.out, "front"), "<path class=\"mark"), searched);
  EXPECT_EQ(count_of(figure_of(browser.out, "parallel"), "<path class=\"trial-line"), searched);
  EXPECT_EQ(count_of(figure_of(browser.out, "slices"), "<path class=\"mark"),
            searched * static_cast<int>(data["parameters"].size()));
  const Json& trace = data["traces"][data["recommended"].dump()];
  EXPECT_NE(figure_of(browser.out, "trace")
                .find("data-pieces=\"" + std::to_string(trace["seconds"].size() - 1) + "\""),
            std::string::npos);

  for (const char* chart : {"importance", "ablation", "bottleneck"}) {
    ASSERT_FALSE(data[chart].empty()) << chart;
    const std::string figure = figure_of(browser.out, std::string(chart) + "-chart");
    int rows = 0;
    for (const Json& part : data[chart])
      rows += static_cast<int>(part["rows"].size());
    EXPECT_EQ(count_of(figure, "<rect class=\"bar "), rows + legend_bars(figure)) << chart;
  }
  const auto widths = bar_widths_of(figure_of(browser.out, "importance-chart"));
  for (const Json& row : data["importance"][0]["rows"]) {
    const Json& first = data["importance"][0]["rows"][0];
    EXPECT_NEAR(widths.at(row["label"]) * first["to"].get<double>(),
                std::max(1.0, widths.at(first["label"]) * row["to"].get<double>()), 1.0)
        << row["label"];
  }

  std::map<std::string, double> seconds;
  for (const Json& trial : data["trials"]) {
    ASSERT_EQ(trial["launches"].size(), 1U);
    const double took_s =
        trial["launches"][0][1].get<double>() - trial["launches"][0][0].get<double>();
    EXPECT_GT(took_s, 0.0);
    seconds[trial["n"].dump()] = took_s;
  }
  const auto spans = span_widths_of(figure_of(browser.out, "timeline"));
  ASSERT_EQ(spans.size(), seconds.size()) << "every trial is drawn";
  const double per_second = spans.at("1") / seconds.at("1");
  for (const auto& [trial, width] : spans)
    EXPECT_NEAR(width, seconds.at(trial) * per_second, 2.5) << "trial " << trial;

  const auto places = places_of(history);
  const auto front = places_of(figure_of(browser.out, "front"));
  Shown times, times_on_front, costs_on_front;
  for (const Json& trial : data["trials"]) {
    if (trial["values"].empty()) continue;
    times.emplace_back(trial["values"][0], places.at(trial["n"]).second);
    if (!front.contains(trial["n"])) continue;
    times_on_front.emplace_back(trial["values"][0], front.at(trial["n"]).first);
    costs_on_front.emplace_back(trial["values"][1], front.at(trial["n"]).second);
  }
  EXPECT_LT(pixels_off_an_axis(times), 0.5);
  EXPECT_LT(pixels_off_an_axis(times_on_front), 0.5);
  EXPECT_LT(pixels_off_an_axis(costs_on_front), 0.5);
  const auto [fastest, slowest] = std::minmax_element(times.begin(), times.end());
  EXPECT_GT(fastest->second, slowest->second) << "less time lies lower";
}

TEST_F(HtmlReport, TheTraceShowsTheTimeOfEachStep) {
  if (!has_browser()) GTEST_SKIP() << k_no_browser;
  const Ended browser =
      document_in_browser(*sandbox_, "file://" + sandbox_->folder().string() + "/report.html");
  const Json data = data_of(sandbox_->read("report.html"));
  const Json& trace = data["traces"][data["recommended"].dump()];
  const std::string figure = figure_of(browser.out, "trace");
  // Each piece of the line goes from its start to its end, at its height.
  const Shown corners = corners_of(figure, "class=\"step-time\"");
  const std::size_t pieces = trace["seconds"].size() - 1;
  ASSERT_EQ(corners.size(), 2 * pieces);
  Shown ends, step_times;
  double at_s = trace["seconds"][0];
  for (std::size_t i = 0; i < pieces; ++i) {
    const double seconds = trace["seconds"][i + 1];
    ends.emplace_back(at_s, corners[2 * i].first);
    at_s += seconds;
    ends.emplace_back(at_s, corners[2 * i + 1].first);
    step_times.emplace_back(seconds / trace["samples"][i + 1].get<double>(), corners[2 * i].second);
  }
  EXPECT_LT(pixels_off_an_axis(ends), 0.5);
  EXPECT_LT(pixels_off_an_axis(step_times), 0.5);
}

TEST_F(HtmlReport, DecisionsStandBesideTheTraceOfTheirTrial) {
  if (!has_browser()) GTEST_SKIP() << k_no_browser;
  std::string page = sandbox_->read("report.html");
  Json data = data_of(page);
  const std::string stopped = [&] {
    for (const auto& [number, trace] : data["traces"].items()) {
      if (trace.contains("decisions") && trace["decisions"]["latest"].back().contains("stop"))
        return number;
    }
    return std::string();
  }();
  ASSERT_FALSE(stopped.empty());
  data["traces"][stopped]["decisions"]["latest"].back()["reason"] = "<img src=x onerror=alert(1)>";
  page = with_data(page, data);
  page.insert(page.rfind("</body>"), "<script>steptune.select(" + stopped + ", false);</script>");
  sandbox_->write("decided.html", page);
  const Ended browser =
      document_in_browser(*sandbox_, "file://" + sandbox_->folder().string() + "/decided.html");
  EXPECT_EQ(count_of(browser.err, "CONSOLE"), 0) << browser.err;
  const std::string figure = figure_of(browser.out, "trace");
  const Json& decisions = data["traces"][stopped]["decisions"]["latest"];
  const auto marks =
      numbers_in(figure, std::regex("<path class=\"decision[^>]*translate\\(([^,]+),0\\)"));
  ASSERT_EQ(marks.size(), decisions.size());
  EXPECT_EQ(count_of(figure, "<path class=\"decision stop\""), 1);
  const std::size_t at = figure.find("class=\"decisions\"");
  ASSERT_NE(at, std::string::npos);
  const std::string table = figure.substr(at, figure.find("</table>", at) - at);
  EXPECT_EQ(count_of(table, "<tr>"), 1 + static_cast<int>(decisions.size()));
  EXPECT_EQ(count_of(table, "<td>stopped: &lt;img src=x onerror=alert(1)&gt;</td>"), 1) << table;
}

TEST_F(HtmlReport, SlicesAndLinesShowTheValuesOfEachTrial) {
  if (!has_browser()) GTEST_SKIP() << k_no_browser;
  const Ended browser =
      document_in_browser(*sandbox_, "file://" + sandbox_->folder().string() + "/report.html");
  const Json data = data_of(sandbox_->read("report.html"));
  const auto slices = drawings_of(figure_of(browser.out, "slices"));
  const std::string parallel = figure_of(browser.out, "parallel");
  const std::size_t parameters = data["parameters"].size();
  ASSERT_EQ(slices.size(), parameters) << browser.err;
  for (std::size_t k = 0; k <= parameters; ++k) {
    const bool is_objective = k == parameters;
    const auto places = is_objective ? places_of("") : places_of(slices[k]);
    std::vector<std::pair<Json, double>> on_slice, on_line;
    Shown objective_on_slice, objective_on_line;
    for (const Json& trial : data["trials"]) {
      const int number = trial["n"];
      const Shown line =
          corners_of(parallel, fmt::format("class=\"trial-line{}\" data-trial=\"{}\"",
                                           trial["n"] == data["recommended"] ? " recommended"
                                           : trial["n"] == data["baseline"]  ? " baseline"
                                                                             : "",
                                           number));
      if (line.empty()) continue;
      ASSERT_EQ(line.size(), parameters + 1)
          << "one axis for each parameter and one for the objective";
      if (is_objective) {
        objective_on_line.emplace_back(trial["values"][0], line[k].second);
        continue;
      }
      on_line.emplace_back(trial["parameters"][k], line[k].second);
      // charts.js moves each mark to the side by an amount that depends on the trial's number, so
      // that equal values do not cover each other.
      const double aside = (std::fmod(number * 0.618, 1.0) - 0.5) * 10.0;
      on_slice.emplace_back(trial["parameters"][k], places.at(number).first - aside);
      objective_on_slice.emplace_back(trial["values"][0], places.at(number).second);
    }
    if (is_objective) {
      EXPECT_LT(pixels_off_an_axis(objective_on_line), 0.5);
      continue;
    }
    SCOPED_TRACE(data["parameters"][k]);
    ASSERT_GT(on_line.size(), 5U);
    expect_parameter(on_line);
    expect_parameter(on_slice);
    EXPECT_LT(pixels_off_an_axis(objective_on_slice), 0.5);
  }
}

TEST_F(HtmlReport, BarsAreAsLongAsTheirValues) {
  if (!has_browser()) GTEST_SKIP() << k_no_browser;
  const Ended browser =
      document_in_browser(*sandbox_, "file://" + sandbox_->folder().string() + "/report.html");
  const Json data = data_of(sandbox_->read("report.html"));
  for (const char* chart : {"importance", "ablation", "bottleneck"}) {
    const auto drawings = drawings_of(figure_of(browser.out, std::string(chart) + "-chart"));
    ASSERT_FALSE(data[chart].empty()) << chart;
    ASSERT_EQ(drawings.size(), data[chart].size()) << chart << browser.err;
    for (std::size_t i = 0; i < drawings.size(); ++i) {
      SCOPED_TRACE(fmt::format("{}: {}", chart, data[chart][i]["title"].dump()));
      expect_bars(data[chart][i], drawings[i]);
    }
  }
}

TEST_F(HtmlReport, ABarsTextHasTheIntervalOfItsOwnGain) {
  if (!has_browser()) GTEST_SKIP() << k_no_browser;
  std::string page = sandbox_->read("report.html");
  Json data = data_of(page);
  data["ablation"] = Json::parse(R"([{"title": "loss", "log": false, "rows": [
    {"label": "first", "from": 0, "to": 1, "low": 0.5, "high": 1.5, "kind": "measured"},
    {"label": "second", "from": 1, "to": 3, "low": 2.5, "high": 3.5, "kind": "measured"}]}])");
  page = with_data(page, data);
  page.insert(page.rfind("</body>"), R"(<script>
    document.querySelectorAll("#ablation-chart g.bar-row")[1].dispatchEvent(new MouseEvent("mousemove"));
  </script>)");
  sandbox_->write("ablation.html", page);
  const Ended browser =
      document_in_browser(*sandbox_, "file://" + sandbox_->folder().string() + "/ablation.html");
  EXPECT_EQ(count_of(browser.err, "CONSOLE"), 0) << browser.err;
  EXPECT_EQ(count_of(browser.out, "second: 2, 95 % interval 1.5 to 2.5"), 1) << browser.out;
}

TEST(HtmlReportOfACluster, DrawsTimeAgainstTheNumberOfMachines) {
  if (!has_browser()) GTEST_SKIP() << k_no_browser;
  const Sandbox sandbox;
  sandbox.write("cluster.json", cluster_study());
  ASSERT_EQ(sandbox.steptune({"run", "cluster.json", "--quiet"}).exit_code, 0);
  ASSERT_EQ(sandbox.steptune({"report", "--html", "report.html"}).exit_code, 0);
  const Ended browser =
      document_in_browser(sandbox, "file://" + sandbox.folder().string() + "/report.html");
  ASSERT_EQ(browser.exit_code, 0) << browser.err;
  EXPECT_EQ(count_of(browser.err, "CONSOLE"), 0) << browser.err;
  const Json scaling = data_of(sandbox.read("report.html"))["scaling"];
  const std::string figure = figure_of(browser.out, "scaling-chart");
  const Json& points = scaling["points"];
  const Json& curve = scaling["curve"];
  ASSERT_EQ(points.size(), 5U);
  ASSERT_GT(curve.size(), 10U);

  Shown counts, times;
  const auto places = places_of(figure);
  ASSERT_EQ(places.size(), points.size());
  static const std::regex k_interval(
      "<line class=\"interval\" x1=\"([^\"]*)\" x2=\"([^\"]*)\" y1=\"([^\"]*)\" y2=\"([^\"]*)\"");
  const auto intervals = numbers_in(figure, k_interval);
  ASSERT_EQ(intervals.size(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& [x, y] = places.at(points[i]["trial"]);
    counts.emplace_back(points[i]["count"], x);
    counts.emplace_back(points[i]["count"], intervals[i][0]);
    counts.emplace_back(points[i]["count"], intervals[i][1]);
    times.emplace_back(points[i]["value"], y);
    times.emplace_back(points[i]["low"], intervals[i][2]);
    times.emplace_back(points[i]["high"], intervals[i][3]);
  }
  // The law and its band. The band's upper edge comes first, and its lower edge leads back.
  const Shown law = corners_of(figure, "class=\"best-so-far\"");
  const Shown band = corners_of(figure, "class=\"scaling-band\"");
  ASSERT_EQ(law.size(), curve.size());
  ASSERT_EQ(band.size(), 2 * curve.size());
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const std::pair<double, double>& low = band[band.size() - 1 - i];
    for (const double x : {law[i].first, band[i].first, low.first})
      counts.emplace_back(curve[i]["count"], x);
    times.emplace_back(curve[i]["value"], law[i].second);
    times.emplace_back(curve[i]["high"], band[i].second);
    times.emplace_back(curve[i]["low"], low.second);
  }
  // Without any loss, n machines take 1/n of the time.
  static const std::regex k_ideal(
      "<line class=\"reference scaling-ideal\" x1=\"([^\"]*)\" y1=\"([^\"]*)\" x2=\"([^\"]*)\" "
      "y2=\"([^\"]*)\"");
  const auto ideal = numbers_in(figure, k_ideal);
  ASSERT_EQ(ideal.size(), 1U);
  const Json& first = points.front();
  const Json& last = points.back();
  const double gain = last["count"].get<double>() / first["count"].get<double>();
  counts.emplace_back(first["count"], ideal[0][0]);
  counts.emplace_back(last["count"], ideal[0][2]);
  times.emplace_back(first["value"], ideal[0][1]);
  times.emplace_back(first["value"].get<double>() / gain, ideal[0][3]);
  EXPECT_LT(pixels_off(counts, Axis::logarithmic), 0.5);
  EXPECT_LT(pixels_off(times, Axis::logarithmic), 0.5);
  const auto [fastest, slowest] = std::minmax_element(times.begin(), times.end());
  EXPECT_GT(fastest->second, slowest->second) << "less time lies lower";
}

TEST_F(HtmlReport, ThePageFitsATelephone) {
  if (!has_browser()) GTEST_SKIP() << k_no_browser;
  std::string page = sandbox_->read("report.html");
  page.insert(page.rfind("</body>"), R"(<script>
    parent.postMessage([document.documentElement.scrollWidth, innerWidth, document.querySelectorAll("svg").length], "*");
  </script>)");
  for (const int width : {390, 1600}) {
    sandbox_->write("narrow.html", page);
    sandbox_->write("frame.html",
                    fmt::format("<!doctype html><p id=sizes></p><script>onmessage = e => "
                                "document.getElementById('sizes').textContent = e.data.join(' ')"
                                "</script><iframe src=narrow.html "
                                "style='width:{}px;height:900px;border:0'></iframe>",
                                width));
    const Ended browser =
        document_in_browser(*sandbox_, "file://" + sandbox_->folder().string() + "/frame.html");
    std::smatch sizes;
    ASSERT_TRUE(
        std::regex_search(browser.out, sizes, std::regex("id=\"sizes\">(\\d+) (\\d+) (\\d+)<")))
        << browser.out << browser.err;
    EXPECT_EQ(std::stoi(sizes[2]), width);
    EXPECT_LE(std::stoi(sizes[1]), width) << "the page scrolls to the side";
    EXPECT_GT(std::stoi(sizes[3]), 10) << "the charts are there";
  }
}

TEST_F(HtmlReport, TheTimelineMarksColdStartsAndJobs) {
  if (!has_browser()) GTEST_SKIP() << k_no_browser;
  const std::string page = sandbox_->read("report.html");
  Json data = data_of(page);
  // Trials 1 to 6 belong to one job, trial 7 runs on the machine that the job leaves a minute
  // later, trial 8 on another one.
  const double end_s = 1000.0 * static_cast<double>(data["trials"].size());
  for (Json& trial : data["trials"]) {
    const int number = trial["n"];
    const bool in_job = number <= 6;
    const double from_s = in_job ? 100.0 * number : number == 7 ? 760.0 : end_s + 100.0 * number;
    trial["launches"] = Json::array({Json::array({from_s, from_s + 100.0})});
    trial["instances"] = number == 8 ? "ml.g5.2xlarge" : "ml.g5.xlarge";
    trial["job"] = in_job ? "job-1" : fmt::format("job-{}", number);
    trial["start"] = number == 1 || number == 8 ? "cold" : in_job ? "in turn" : "warm";
    data["traces"][std::to_string(number)]["startup"] = 20.0;
  }
  data["unused"] =
      Json::array({{{"machine", "job-7"}, {"from", 860.0}, {"to", 905.0}, {"usd", 0.02}}});
  sandbox_->write("rented.html", with_data(page, data));
  const Ended browser =
      document_in_browser(*sandbox_, "file://" + sandbox_->folder().string() + "/rented.html");
  EXPECT_EQ(count_of(browser.err, "CONSOLE"), 0) << browser.err;
  const std::string timeline = figure_of(browser.out, "timeline");
  const std::string drawn = timeline.substr(0, timeline.find("class=\"legend\""));
  EXPECT_EQ(count_of(drawn, "data-trials=\"1 2 3 4 5 6\""), 1) << "a frame around the job";
  EXPECT_EQ(count_of(drawn, "data-trials="), 1);
  EXPECT_EQ(count_of(drawn, "class=\"start-up cold\""), 2);
  EXPECT_GE(count_of(drawn, "class=\"start-up warm\""), 1);
  EXPECT_EQ(count_of(drawn, "class=\"start-up\""), 5)
      << "later trials of a job start on the running machine";
  EXPECT_GE(count_of(drawn, "class=\"idle\""), 2) << "between trials 6 and 7, and behind 7";
  // After its last trial, a machine is idle until it is given back, in the lane of that trial.
  static const std::regex k_held(
      "<rect class=\"idle\" [^>]*?width=\"([^\"]*)\" y=\"([^\"]*)\"[^>]*data-machine=\"job-7\"");
  static const std::regex k_trial_7(
      "<rect class=\"span [^>]*? y=\"([^\"]*)\"[^>]*data-trial=\"7\"");
  double held_width = 0.0;
  std::set<std::string> held_at;
  for (auto it = std::sregex_iterator(drawn.begin(), drawn.end(), k_held);
       it != std::sregex_iterator(); ++it) {
    held_width += std::stod((*it)[1]) + 0.6;
    held_at.insert((*it)[2]);
  }
  std::smatch trial_7;
  ASSERT_TRUE(std::regex_search(drawn, trial_7, k_trial_7)) << drawn;
  EXPECT_THAT(held_at, testing::ElementsAre(trial_7[1].str()));
  EXPECT_NEAR(held_width / span_widths_of(drawn).at("7"), 0.45, 0.02) << "45 s beside 100 s";
  const std::string legend = timeline.substr(drawn.size());
  for (const char* text : {"cold start, until the first step", "warm start, until the first step",
                           "trials of one job", "machine kept, idle"})
    EXPECT_EQ(count_of(legend, text), 1) << text;
}

// Tests a served page whose study has changed.
TEST_F(HtmlReport, KeepsOrderFilterAndSelectionWhenItIsRefreshed) {
  if (!has_browser()) GTEST_SKIP() << k_no_browser;
  std::string page = sandbox_->read("report.html");
  page.insert(page.rfind("</body>"), R"(<script>
    document.querySelector("#trials thead th:nth-child(2) button").click();
    document.querySelector("#trials thead th:nth-child(2) button").click();
    document.getElementById("filter").value = "bf16";
    document.getElementById("filter").dispatchEvent(new Event("input"));
    document.querySelector("#trials tbody tr[data-trial='5']").click();
    var data = JSON.parse(document.getElementById("data").textContent);
    delete data.traces[5];
    var next = document.implementation.createHTMLDocument("");
    next.body.innerHTML = "<table id=trials><thead><tr><th>rank<th>trial<th>precision</thead><tbody>" +
        "<tr data-trial=1><td>1<td>1<td>fp32<tr data-trial=5><td>3<td>5<td>bf16<tr data-trial=9><td>2<td>9<td>bf16" +
        "</table><div id=table-notes>batches differ</div><script id=data>" + JSON.stringify(data) + "<\/script>";
    steptune.refresh(next);
  </script>)");
  sandbox_->write("refreshed.html", page);
  const Ended browser =
      document_in_browser(*sandbox_, "file://" + sandbox_->folder().string() + "/refreshed.html");
  EXPECT_EQ(count_of(browser.err, "CONSOLE"), 0) << browser.err;
  const std::size_t at = browser.out.find("id=\"trials\"");
  const std::string table = browser.out.substr(at, browser.out.find("</table>", at) - at);
  EXPECT_LT(table.find("data-trial=\"9\""), table.find("data-trial=\"5\"")) << table;
  EXPECT_LT(table.find("data-trial=\"5\""), table.find("data-trial=\"1\"")) << "descending";
  EXPECT_EQ(count_of(table, "aria-sort=\"descending\""), 1);
  EXPECT_EQ(count_of(table, "hidden"), 1) << "fp32 is filtered out";
  EXPECT_EQ(count_of(table, "class=\"selected\""), 1);
  EXPECT_EQ(count_of(browser.out, "2 of 3 trials"), 1);
  EXPECT_EQ(count_of(browser.out, "<div id=\"table-notes\">batches differ</div>"), 1);
  EXPECT_GT(count_of(figure_of(browser.out, "history"), "<path class=\"mark"), 5) << "drawn again";
  EXPECT_EQ(count_of(figure_of(browser.out, "trace"), "There are no step times of trial 5"), 1);
}

}  // namespace
}  // namespace steptune::golden
