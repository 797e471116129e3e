# SPDX-License-Identifier: Apache-2.0
"""Family of Keras 3, on its three backends, and of TensorFlow 2. A step is a batch of `fit` or `train_on_batch`. In a
program with its own training loop, a step is an update of an optimizer.

hook       connects the parts
fits       steps of `Model.fit` and `train_on_batch`
loops      steps of loops of the program's own
pauses     evaluations and checkpoints
batches    number of samples of a batch
turns      steps of several optimizers
knobs      settings of Keras and TensorFlow
model_knobs, dataset_knobs   settings of models and PyDatasets, and of tf.data
"""

MODULES = ("keras", "tensorflow")


def install(module):
    from steptune_hook.keras import hook

    hook.enter(module)
