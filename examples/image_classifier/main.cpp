// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>

#include "common/text.hpp"
#include "image_classifier/catalog.hpp"
#include "image_classifier/generator.hpp"
#include "image_classifier/patterns.hpp"
#include "image_classifier/train.hpp"
#include "support/command_line.hpp"

namespace steptune::example {

namespace {

struct CommandLine {
  std::filesystem::path data;
  double epochs = 10.0;
  ClassifierOptions classifier;
  GeneratorOptions generator;
};

/// Restricts the width to multiples of 16. With other widths, oneDNN 2.6 (in Debian's LibTorch) has
/// a bug in the gradient of strided 1x1 convolutions. It writes out of bounds if three or more
/// threads share a channels-last batch.
std::string multiple_of_16(const std::string& text) {
  const auto width = parse_finite(text);
  return width && std::fmod(*width, 16.0) == 0.0 ? "" : text + " is not a multiple of 16";
}

void add_options(CLI::App& app, CommandLine& line) {
  ClassifierOptions& options = line.classifier;
  options.training.learning_rate = 0.05;
  auto* const data = app.add_option("--data", line.data, "folder of class folders of JPEG files");
  auto* const steps = app.add_option("--steps", options.training.steps, "optimizer steps")
                          ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  app.add_option("--epochs", line.epochs, "passes over the data, instead of --steps")
      ->check(CLI::Range(1e-6, 1e6))
      ->excludes(steps)
      ->capture_default_str();
  app.add_option("--batch-size", options.batch_size, "images per batch")
      ->check(CLI::Range(1, 65'536))
      ->capture_default_str();
  app.add_option("--workers", options.workers, "threads that read and decode images")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--prefetch", options.prefetch, "batches in preparation per worker")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_flag("--channels-last", options.channels_last, "lay pictures out pixel by pixel");
  app.add_option("--crop", options.crop_px, "side of the network's input in pixels")
      ->check(CLI::Range(16, 512))
      ->capture_default_str();
  app.add_option("--width", options.width, "channels of the network's first stage")
      ->check(CLI::Range(16, 512))
      ->check(CLI::Validator(multiple_of_16, "multiple of 16"))
      ->capture_default_str();
  add_training_options(app, options.training);

  GeneratorOptions& generator = line.generator;
  const char* const group = "Making a data set";
  auto* const generate =
      app.add_option("--generate", generator.folder, "write a set of images to this folder and end")
          ->excludes(data)
          ->group(group);
  app.add_option("--images", generator.images, "number of images")
      ->check(CLI::Range(2, 10'000'000))
      ->needs(generate)
      ->capture_default_str()
      ->group(group);
  app.add_option("--classes", generator.classes, "number of classes")
      ->check(CLI::Range(2, k_pattern_count))
      ->needs(generate)
      ->capture_default_str()
      ->group(group);
  app.add_option("--size", generator.side_px, "side of an image in pixels")
      ->check(CLI::Range(16, 4096))
      ->needs(generate)
      ->capture_default_str()
      ->group(group);
}

Result<void> run(CommandLine& line) {
  TrainingOptions& training = line.classifier.training;
  if (!line.generator.folder.empty()) {
    line.generator.seed = training.seed;
    return generate_images(line.generator);
  }
  if (line.data.empty()) {
    return fail(ErrorKind::usage, "--data is missing", {},
                "name a folder with one folder of JPEG files per class; "
                "--generate DIR makes such a set");
  }
  const Result<Catalog> catalog = read_catalog(line.data);
  if (!catalog) return tl::unexpected(catalog.error());
  if (training.steps == 0) {
    const double batch = static_cast<double>(line.classifier.batch_size) * training.accumulate;
    const double samples = line.epochs * static_cast<double>(catalog->entries.size());
    training.steps = static_cast<std::int64_t>(std::ceil(samples / batch));
  }
  return train_classifier(line.classifier, *catalog);
}

}  // namespace

}  // namespace steptune::example

int main(int argc, char** argv) {
  using namespace steptune::example;
  CLI::App app("Trains a small residual network to tell JPEG images apart", "image_classifier");
  // The last value of an option counts, so that options can be appended to a recommended command
  // line.
  app.option_defaults()->take_last();
  CommandLine line;
  add_options(app, line);
  return run_program(app, argc, argv, [&line] { return run(line); });
}
