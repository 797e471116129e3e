// SPDX-License-Identifier: Apache-2.0
#include "common/log.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "common/text.hpp"

namespace steptune {
namespace {

struct LevelName {
  std::string_view name;
  LogLevel level;
};
constexpr std::array<LevelName, 5> k_level_names{{{"debug", LogLevel::debug},
                                                  {"info", LogLevel::info},
                                                  {"warning", LogLevel::warning},
                                                  {"error", LogLevel::error},
                                                  {"off", LogLevel::off}}};

// Kept outside the logger, so that a line below the level costs only one atomic load.
std::atomic<LogLevel> g_level = LogLevel::off;
std::shared_ptr<spdlog::logger> g_logger;

std::optional<LogLevel> level_from_text(std::string_view text) {
  for (const auto& [name, level] : k_level_names) {
    if (name == text) return level;
  }
  return std::nullopt;
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      break;
  }
  return spdlog::level::off;
}

}  // namespace

Result<LogOptions> parse_log_options(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view first = text.substr(0, colon);
  if (const auto level = level_from_text(first)) {
    LogOptions options{*level, {}};
    if (colon != std::string_view::npos) options.file = text.substr(colon + 1);
    return options;
  }
  if (text.find_first_of("./") != std::string_view::npos) return LogOptions{LogLevel::info, text};
  std::vector<std::string> names;
  for (const auto& [name, level] : k_level_names)
    names.emplace_back(name);
  return fail(
      ErrorKind::usage,
      fmt::format("unknown log level \"{}\"{}", printable_line(first), did_you_mean(first, names)),
      "", "give debug, info, warning, error or off, a file, or LEVEL:FILE");
}

Result<void> set_up_log(const LogOptions& options) {
  g_level = LogLevel::off;
  g_logger.reset();
  if (options.level == LogLevel::off) return {};
  try {
    spdlog::sink_ptr sink;
    if (options.file.empty()) {
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file.string());
    }
    g_logger = std::make_shared<spdlog::logger>("steptune", std::move(sink));
  } catch (const spdlog::spdlog_ex& exception) {
    return fail(ErrorKind::store,
                fmt::format("the log cannot be written: {}", printable_line(exception.what())),
                options.file.string(), "give a file in a folder that exists and may be written to");
  }
  g_logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %-7l %v", spdlog::pattern_time_type::utc);
  g_logger->set_level(spdlog_level(options.level));
  // Flush every line, because after a crash the last decisions matter most.
  g_logger->flush_on(spdlog::level::debug);
  g_logger->set_error_handler([](const std::string&) {});
  g_level = options.level;
  return {};
}

bool logs(LogLevel level) {
  return level >= g_level.load(std::memory_order_relaxed) && level != LogLevel::off;
}

void write_log(LogLevel level, std::string_view line) {
  if (!logs(level)) return;
  g_logger->log(spdlog_level(level), "{}", printable_line(line, 4096));
}

}  // namespace steptune
