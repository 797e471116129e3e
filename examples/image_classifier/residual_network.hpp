// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <torch/nn.h>

namespace steptune::example {

/// Two 3x3 convolutions around a shortcut (He et al., Deep Residual Learning, CVPR 2016).
struct ResidualBlockImpl : torch::nn::Module {
  ResidualBlockImpl(std::int64_t in, std::int64_t out, std::int64_t stride)
      : first(register_module("first", convolution(in, out, 3, stride))),
        second(register_module("second", convolution(out, out, 3, 1))),
        first_norm(register_module("first_norm", torch::nn::BatchNorm2d(out))),
        second_norm(register_module("second_norm", torch::nn::BatchNorm2d(out))) {
    if (in != out || stride != 1) {
      shortcut = register_module("shortcut", torch::nn::Sequential(convolution(in, out, 1, stride),
                                                                   torch::nn::BatchNorm2d(out)));
    }
  }

  torch::Tensor forward(const torch::Tensor& input) {
    const torch::Tensor hidden = torch::relu(first_norm(first(input)));
    const torch::Tensor direct = shortcut.is_empty() ? input : shortcut->forward(input);
    return torch::relu(second_norm(second(hidden)) + direct);
  }

  static torch::nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t kernel,
                                       std::int64_t stride) {
    return torch::nn::Conv2d(
        torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
  }

  torch::nn::Conv2d first;
  torch::nn::Conv2d second;
  torch::nn::BatchNorm2d first_norm;
  torch::nn::BatchNorm2d second_norm;
  torch::nn::Sequential shortcut{nullptr};
};
TORCH_MODULE(ResidualBlock);

/// A stem and three stages of one block each. The first stage has `width` channels; each further
/// stage doubles them.
struct ResidualNetworkImpl : torch::nn::Module {
  ResidualNetworkImpl(std::int64_t width, std::int64_t classes)
      : stem(register_module("stem", ResidualBlockImpl::convolution(3, width, 3, 2))),
        stem_norm(register_module("stem_norm", torch::nn::BatchNorm2d(width))),
        stages(register_module("stages",
                               torch::nn::Sequential(ResidualBlock(width, width, 1),
                                                     ResidualBlock(width, 2 * width, 2),
                                                     ResidualBlock(2 * width, 4 * width, 2)))),
        head(register_module("head", torch::nn::Linear(4 * width, classes))) {}

  /// Takes batch x 3 x side x side values. Returns batch x classes scores.
  torch::Tensor forward(const torch::Tensor& pictures) {
    const torch::Tensor features = stages->forward(torch::relu(stem_norm(stem(pictures))));
    return head(features.mean({2, 3}));
  }

  torch::nn::Conv2d stem;
  torch::nn::BatchNorm2d stem_norm;
  torch::nn::Sequential stages;
  torch::nn::Linear head;
};
TORCH_MODULE(ResidualNetwork);

}  // namespace steptune::example
