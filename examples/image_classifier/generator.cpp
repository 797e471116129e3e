// SPDX-License-Identifier: Apache-2.0
#include "image_classifier/generator.hpp"

#include <cstdio>
#include <fstream>
#include <string>
#include <system_error>

#include <fmt/core.h>

#include "common/json.hpp"
#include "common/rng.hpp"
#include "image_classifier/jpeg.hpp"
#include "image_classifier/patterns.hpp"

namespace steptune::example {

namespace {

constexpr int k_quality = 90;
/// File that describes a folder's content; `complete` is true once every image exists.
constexpr const char* k_manifest = "generated.json";

Json manifest_of(const GeneratorOptions& options, bool complete) {
  return {{"images", options.images},
          {"classes", options.classes},
          {"size", options.side_px},
          {"seed", options.seed},
          {"complete", complete}};
}

Result<void> write_manifest(const GeneratorOptions& options, bool complete) {
  const std::filesystem::path file = options.folder / k_manifest;
  std::ofstream stream(file, std::ios::trunc);
  stream << dump_json(manifest_of(options, complete)) << '\n';
  stream.close();
  if (!stream) return fail(ErrorKind::usage, "cannot write the file", file.string());
  return {};
}

enum class FolderState { empty, unfinished, complete };

Result<FolderState> inspect(const GeneratorOptions& options) {
  const std::string where = options.folder.string();
  const char* const hint = "choose another folder or remove this one";
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error) return fail(ErrorKind::usage, "cannot make the folder: " + error.message(), where);
  const std::filesystem::path manifest = options.folder / k_manifest;
  if (!std::filesystem::exists(manifest, error)) {
    const bool empty = std::filesystem::is_empty(options.folder, error);
    if (error) return fail(ErrorKind::usage, "cannot read the folder: " + error.message(), where);
    if (empty) return FolderState::empty;
    return fail(ErrorKind::usage, "the folder holds something else already", where, hint);
  }
  const Result<Json> found = read_json_file(manifest);
  if (!found) return tl::unexpected(found.error());
  if (*found == manifest_of(options, true)) return FolderState::complete;
  if (*found == manifest_of(options, false)) return FolderState::unfinished;
  return fail(ErrorKind::usage, "the folder holds another set: " + dump_json(*found), where, hint);
}

}  // namespace

Result<void> generate_images(const GeneratorOptions& options) {
  const Result<FolderState> state = inspect(options);
  if (!state) return tl::unexpected(state.error());
  if (*state == FolderState::complete) {
    fmt::print("{}: {} images are there already\n", options.folder.string(), options.images);
    return {};
  }
  if (Result<void> written = write_manifest(options, false); !written) return written;
  for (int number = 0; number < options.images; ++number) {
    const int pattern = number % options.classes;
    const std::filesystem::path folder = options.folder / pattern_name(pattern);
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
      return fail(ErrorKind::usage, "cannot make the folder: " + error.message(), folder.string());
    }
    const std::filesystem::path file = folder / fmt::format("{:06}.jpg", number);
    // Files appear complete or not at all, so an existing file is finished.
    if (std::filesystem::exists(file, error)) continue;
    Rng rng(options.seed, "picture", static_cast<std::uint64_t>(number));
    const Image image = draw_pattern(pattern, options.side_px, rng);
    if (Result<void> written = write_jpeg(file, image, k_quality); !written) return written;
    if ((number + 1) % 400 == 0) {
      fmt::print("{} of {} images\n", number + 1, options.images);
      std::fflush(stdout);
    }
  }
  if (Result<void> written = write_manifest(options, true); !written) return written;
  fmt::print("{}: wrote {} images in {} classes\n", options.folder.string(), options.images,
             options.classes);
  return {};
}

}  // namespace steptune::example
