// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <torch/nn.h>

namespace steptune::example {

struct TransformerShape {
  std::int64_t symbols = 0;
  std::int64_t sequence_length = 0;
  std::int64_t width = 0;
  std::int64_t heads = 0;  ///< divides `width`
  std::int64_t layers = 0;
};

/// Multi-head attention to earlier symbols, then a GELU network. Each part normalises its input and
/// adds its result to the input (Radford et al., Language Models are Unsupervised Multitask
/// Learners, 2019).
struct DecoderBlockImpl : torch::nn::Module {
  explicit DecoderBlockImpl(const TransformerShape& shape)
      : heads(shape.heads),
        attention_norm(register_module("attention_norm", layer_norm(shape.width))),
        network_norm(register_module("network_norm", layer_norm(shape.width))),
        queries_keys_values(
            register_module("qkv", torch::nn::Linear(shape.width, 3 * shape.width))),
        projection(register_module("projection", torch::nn::Linear(shape.width, shape.width))),
        widen(register_module("widen", torch::nn::Linear(shape.width, 4 * shape.width))),
        narrow(register_module("narrow", torch::nn::Linear(4 * shape.width, shape.width))) {}

  torch::Tensor forward(const torch::Tensor& input, const torch::Tensor& mask) {
    const torch::Tensor hidden = input + attend(attention_norm(input), mask);
    return hidden + narrow(torch::gelu(widen(network_norm(hidden))));
  }

  torch::Tensor attend(const torch::Tensor& input, const torch::Tensor& mask) {
    const std::int64_t batch = input.size(0);
    const std::int64_t length = input.size(1);
    const std::int64_t width = input.size(2);
    const torch::Tensor split =
        queries_keys_values(input).view({batch, length, 3, heads, width / heads});
    const torch::Tensor queries = split.select(2, 0).transpose(1, 2);
    const torch::Tensor keys = split.select(2, 1).transpose(1, 2);
    const torch::Tensor values = split.select(2, 2).transpose(1, 2);
    const double scale = 1.0 / std::sqrt(static_cast<double>(width / heads));
    const torch::Tensor scores = torch::matmul(queries * scale, keys.transpose(2, 3)) + mask;
    const torch::Tensor mixed = torch::matmul(torch::softmax(scores, -1), values);
    return projection(mixed.transpose(1, 2).reshape({batch, length, width}));
  }

  static torch::nn::LayerNorm layer_norm(std::int64_t width) {
    return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}));
  }

  std::int64_t heads;
  torch::nn::LayerNorm attention_norm;
  torch::nn::LayerNorm network_norm;
  torch::nn::Linear queries_keys_values;
  torch::nn::Linear projection;
  torch::nn::Linear widen;
  torch::nn::Linear narrow;
};
TORCH_MODULE(DecoderBlock);

/// A decoder-only transformer over symbols with learned positions.
struct TransformerImpl : torch::nn::Module {
  explicit TransformerImpl(const TransformerShape& shape)
      : symbols(register_module("symbols", torch::nn::Embedding(shape.symbols, shape.width))),
        positions(
            register_module("positions", torch::nn::Embedding(shape.sequence_length, shape.width))),
        blocks(register_module("blocks", torch::nn::ModuleList())),
        last_norm(register_module("last_norm", DecoderBlockImpl::layer_norm(shape.width))),
        head(register_module("head", torch::nn::Linear(shape.width, shape.symbols))),
        mask(register_buffer("mask", torch::full({shape.sequence_length, shape.sequence_length},
                                                 -std::numeric_limits<float>::infinity())
                                         .triu(1))) {
    for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
      blocks->push_back(DecoderBlock(shape));
    }
    constexpr double k_initial_deviation = 0.02;
    const torch::NoGradGuard no_gradient;
    symbols->weight.normal_(0.0, k_initial_deviation);
    positions->weight.normal_(0.0, k_initial_deviation);
  }

  /// Takes batch x length symbols. Returns batch x length x symbols scores for the next symbol.
  torch::Tensor forward(const torch::Tensor& input) {
    const torch::Tensor places = torch::arange(input.size(1), torch::kInt64);
    torch::Tensor hidden = symbols(input) + positions(places);
    for (const auto& block : *blocks) {
      hidden = block->as<DecoderBlock>()->forward(hidden, mask);
    }
    return head(last_norm(hidden));
  }

  torch::nn::Embedding symbols;
  torch::nn::Embedding positions;
  torch::nn::ModuleList blocks;
  torch::nn::LayerNorm last_norm;
  torch::nn::Linear head;
  torch::Tensor mask;
};
TORCH_MODULE(Transformer);

}  // namespace steptune::example
