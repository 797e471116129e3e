# SPDX-License-Identifier: Apache-2.0
"""`fit` on arrays whose last batch is smaller, with validation and checkpoints. Argument `often`: a callback evaluates
within each epoch; `resumed`: the first epoch is left out."""

import os
import sys
import tempfile

import keras
import numpy

if "broken" in sys.argv:  # the hook's own work raises
    from steptune_hook.loop_hook import LoopProgress

    LoopProgress.step = None


class Often(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 3:
            self.model.evaluate(x[:30], y[:30], verbose=0)


keras.utils.set_random_seed(1)
random = numpy.random.RandomState(0)
x = random.randn(100, 20).astype("float32")
y = (x[:, 0] * x[:, 1] + x[:, 2]).astype("float32")
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dropout(0.1), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")
with tempfile.TemporaryDirectory() as folder:
    saves = keras.callbacks.ModelCheckpoint(os.path.join(folder, "best.weights.h5"), save_weights_only=True)
    callbacks = [saves, Often()] if "often" in sys.argv else [saves]
    history = model.fit(
        x,
        y,
        batch_size=16,
        epochs=3,
        initial_epoch=1 if "resumed" in sys.argv else 0,
        validation_data=(x[:30], y[:30]),
        callbacks=callbacks,
        verbose=0,
    ).history
print("losses", [float(loss).hex() for loss in history["loss"] + history["val_loss"]])
