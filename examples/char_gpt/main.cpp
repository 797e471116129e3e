// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "char_gpt/text.hpp"
#include "char_gpt/train.hpp"
#include "support/command_line.hpp"

namespace steptune::example {

namespace {

struct CommandLine {
  std::filesystem::path data;
  LanguageOptions language;
};

void add_options(CLI::App& app, CommandLine& line) {
  LanguageOptions& options = line.language;
  options.training.steps = 1000;
  options.training.learning_rate = 1e-3;
  app.add_option("--data", line.data, "text file; default: the system's licence texts");
  app.add_option("--steps", options.training.steps, "optimizer steps")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--micro-batch", options.micro_batch, "sequences per pass")
      ->check(CLI::Range(1, 65'536))
      ->capture_default_str();
  app.add_option("--sequence-length", options.sequence_length, "tokens per sequence")
      ->check(CLI::Range(1, 16'384))
      ->capture_default_str();
  app.add_option("--width", options.width, "features per token")
      ->check(CLI::Range(8, 8192))
      ->capture_default_str();
  app.add_option("--heads", options.heads, "attention heads; must divide the width")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--layers", options.layers)->check(CLI::Range(1, 128))->capture_default_str();
  add_training_options(app, options.training);
}

Result<void> run(const CommandLine& line) {
  const LanguageOptions& options = line.language;
  if (options.width % options.heads != 0) {
    return fail(ErrorKind::usage, fmt::format("--width {} is not a multiple of --heads {}",
                                              options.width, options.heads));
  }
  const Result<std::string> text = read_text(line.data);
  if (!text) return tl::unexpected(text.error());
  if (text->size() <= static_cast<std::size_t>(options.sequence_length)) {
    return fail(ErrorKind::usage,
                fmt::format("the text has {} bytes, too few for sequences of {} tokens",
                            text->size(), options.sequence_length),
                line.data.string(), "choose a longer text or a smaller --sequence-length");
  }
  train_language_model(options, encode(*text));
  return {};
}

}  // namespace

}  // namespace steptune::example

int main(int argc, char** argv) {
  using namespace steptune::example;
  CLI::App app("Trains a small character-level transformer on text", "char_gpt");
  // The last value of an option counts, so that options can be appended to a recommended command
  // line.
  app.option_defaults()->take_last();
  CommandLine line;
  add_options(app, line);
  return run_program(app, argc, argv, [&line] { return run(line); });
}
