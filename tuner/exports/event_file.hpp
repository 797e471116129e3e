// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace steptune {

/// Messages in a row, as TensorFlow writes them (TFRecord): each has its length and two checksums.
/// Source: tensorflow/core/lib/io/record_writer.h.
[[nodiscard]] std::string as_record(std::string_view message);

/// An event file of TensorBoard's. Errors throw `std::filesystem::filesystem_error`, as they may
/// arise at every line.
class EventFile {
 public:
  /// Makes `folder` and in it a new file, which begins at `wall_time_s` (since 1970).
  EventFile(const std::filesystem::path& folder, double wall_time_s);

  /// A point of the curve `tag`.
  void add_scalar(const std::string& tag, double wall_time_s, std::int64_t step, double value);
  /// What the plugin `hparams` reads: `content` is its message.
  void add_hyperparameters(const std::string& tag, double wall_time_s, const std::string& content);
  /// Ends the file.
  void close();

 private:
  void put(const std::string& message);

  std::filesystem::path file_;
  std::ofstream out_;
};

}  // namespace steptune
