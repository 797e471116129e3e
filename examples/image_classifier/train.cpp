// SPDX-License-Identifier: Apache-2.0
#include "image_classifier/train.hpp"

#include <exception>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include <torch/data.h>
#include <torch/nn.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>

#include "common/rng.hpp"
#include "image_classifier/augment.hpp"
#include "image_classifier/jpeg.hpp"
#include "image_classifier/residual_network.hpp"
#include "support/training_loop.hpp"

namespace steptune::example {

namespace {

/// Carries an error out of a data-loader worker, which can only throw exceptions.
struct DataFault : std::runtime_error {
  explicit DataFault(Error cause) : std::runtime_error(cause.text()), error(std::move(cause)) {}
  Error error;
};

/// Yields a given number of batches of positions. Position p means image p mod n in epoch p div n,
/// for n images. Each epoch shuffles the images. All epochs are one pass, so the queue of batches
/// does not drain between epochs.
class EndlessShuffle : public torch::data::samplers::Sampler<> {
 public:
  EndlessShuffle(std::size_t pictures, std::int64_t batches, std::uint64_t seed)
      : order_(pictures), batches_(batches), seed_(seed) {}

  void reset(torch::optional<std::size_t> /*new_size*/ = torch::nullopt) override {
    batches_done_ = 0;
    position_ = 0;
  }

  torch::optional<std::vector<std::size_t>> next(std::size_t batch_size) override {
    if (batches_done_ == batches_) return torch::nullopt;
    ++batches_done_;
    std::vector<std::size_t> batch;
    batch.reserve(batch_size);
    for (std::size_t count = 0; count < batch_size; ++count, ++position_) {
      const std::size_t place = position_ % order_.size();
      if (place == 0) shuffle(position_ / order_.size());
      batch.push_back(position_ - place + order_[place]);
    }
    return batch;
  }

  void save(torch::serialize::OutputArchive& /*archive*/) const override { refuse(); }
  void load(torch::serialize::InputArchive& /*archive*/) override { refuse(); }

 private:
  [[noreturn]] static void refuse() { throw std::logic_error("the order is not checkpointed"); }

  void shuffle(std::size_t epoch) {
    Rng rng(seed_, "epoch", epoch);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    for (std::size_t place = order_.size(); place > 1; --place) {
      std::swap(order_[place - 1], order_[rng.below(place)]);
    }
  }

  std::vector<std::size_t> order_;
  std::int64_t batches_;
  std::int64_t batches_done_ = 0;
  std::size_t position_ = 0;
  std::uint64_t seed_;
};

/// Reads, decodes and augments whole batches. Copies share the catalog.
class PictureDataset
    : public torch::data::datasets::BatchDataset<PictureDataset, torch::data::Example<>> {
 public:
  PictureDataset(const ClassifierOptions& options, const Catalog& catalog)
      : options_(options), catalog_(&catalog) {}

  torch::data::Example<> get_batch(at::ArrayRef<std::size_t> positions) override {
    const auto count = static_cast<std::int64_t>(positions.size());
    const auto layout =
        options_.channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
    const torch::Tensor pictures =
        torch::empty({count, 3, options_.crop_px, options_.crop_px},
                     torch::TensorOptions().dtype(torch::kFloat32).memory_format(layout));
    const torch::Tensor labels = torch::empty({count}, torch::kInt64);
    for (std::int64_t place = 0; place < count; ++place) {
      const std::size_t position = positions[static_cast<std::size_t>(place)];
      const Catalog::Entry& entry = catalog_->entries[position % catalog_->entries.size()];
      const Result<Image> image = read_jpeg(entry.file);
      if (!image) throw DataFault(image.error());
      // Seeded by position, so that the result does not depend on the worker.
      Rng rng(options_.training.seed, "augment", position);
      augment(*image, rng,
              {.data = pictures.data_ptr<float>() + place * pictures.stride(0),
               .side_px = options_.crop_px,
               .channel = pictures.stride(1),
               .row = pictures.stride(2),
               .column = pictures.stride(3)});
      labels.data_ptr<std::int64_t>()[place] = entry.label;
    }
    return {pictures, labels};
  }

  [[nodiscard]] torch::optional<std::size_t> size() const override {
    return catalog_->entries.size();
  }

 private:
  ClassifierOptions options_;
  const Catalog* catalog_;
};

auto make_loader(const ClassifierOptions& options, const Catalog& catalog) {
  const auto workers = static_cast<std::size_t>(options.workers);
  const auto loader_options =
      torch::data::DataLoaderOptions(static_cast<std::size_t>(options.batch_size))
          .workers(workers)
          .max_jobs(workers * static_cast<std::size_t>(options.prefetch));
  return torch::data::make_data_loader(
      PictureDataset(options, catalog),
      EndlessShuffle(catalog.entries.size(), options.training.steps * options.training.accumulate,
                     options.training.seed),
      loader_options);
}

}  // namespace

Result<void> train_classifier(const ClassifierOptions& options, const Catalog& catalog) {
  set_operation_threads(options.training.threads);
  torch::manual_seed(options.training.seed);
  ResidualNetwork network(options.width, static_cast<std::int64_t>(catalog.classes.size()));
  if (options.channels_last) {
    for (torch::Tensor& parameter : network->parameters()) {
      if (parameter.dim() == 4) {
        parameter.set_data(parameter.data().contiguous(at::MemoryFormat::ChannelsLast));
      }
    }
  }
  torch::optim::SGD optimizer(
      network->parameters(),
      torch::optim::SGDOptions(options.training.learning_rate).momentum(0.9).weight_decay(1e-4));

  try {
    const auto loader = make_loader(options, catalog);
    PictureDataset pictures(options, catalog);
    auto iterator = loader->end();
    bool started = false;
    const TrainingParts parts = {
        .network = *network,
        .unit = "images",
        .next_batch =
            [&] {
              if (started) {
                ++iterator;
              } else {
                iterator = loader->begin();
                started = true;
              }
              return Batch{iterator->data, iterator->target};
            },
        .evaluation_batch =
            [&](std::int64_t number) {
              const auto size = static_cast<std::size_t>(options.batch_size);
              std::vector<std::size_t> positions(size);
              std::iota(positions.begin(), positions.end(),
                        static_cast<std::size_t>(number) * size);
              const auto batch = pictures.get_batch(positions);
              return Batch{batch.data, batch.target};
            },
        .loss =
            [&](const Batch& batch) {
              return torch::cross_entropy_loss(network(batch.inputs), batch.targets);
            },
        .samples = [](const Batch& batch) { return static_cast<double>(batch.targets.size(0)); }};
    train(options.training, optimizer, parts);
  } catch (const DataFault& fault) {
    return tl::unexpected(fault.error);
  } catch (const torch::data::WorkerException& wrapped) {
    try {
      std::rethrow_exception(wrapped.original_exception);
    } catch (const DataFault& fault) {
      return tl::unexpected(fault.error);
    }
  }
  return {};
}

}  // namespace steptune::example
