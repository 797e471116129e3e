# SPDX-License-Identifier: Apache-2.0
"""An ordinary Keras program. Its input pipeline has TensorFlow's defaults, so pictures are decoded one after another.

The pictures of stripes stay compressed in memory, like encoded files. Their direction is the class. The data set
decodes, crops and scales them.
"""

import argparse

import keras
import tensorflow as tf


def stripes(angle, size):
    """Draws a JPEG picture of stripes."""
    x, y = tf.meshgrid(tf.linspace(0.0, 1.0, size), tf.linspace(0.0, 1.0, size))
    wave = tf.sin(40.0 * (x * tf.cos(angle) + y * tf.sin(angle)))
    picture = tf.stack([wave, -wave, wave * wave], axis=-1) * 127.0 + 128.0
    return tf.io.encode_jpeg(tf.cast(tf.clip_by_value(picture, 0.0, 255.0), tf.uint8))


def read(encoded, label):
    picture = tf.image.decode_jpeg(encoded, channels=3)
    picture = tf.image.central_crop(picture, 0.9)
    return tf.image.resize(picture, (64, 64)) / 255.0, label


parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=100)
parser.add_argument("--images", type=int, default=2000)
parser.add_argument("--size", type=int, default=512, help="width of the encoded pictures")
options = parser.parse_args()

keras.utils.set_random_seed(1)
labels = tf.random.uniform((options.images,), maxval=4, dtype=tf.int32, seed=2)
encoded = tf.stack([stripes(0.7 * float(label), options.size) for label in labels])
data = tf.data.Dataset.from_tensor_slices((encoded, labels)).shuffle(options.images, seed=3).map(read).batch(32)

model = keras.Sequential(
    [
        keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
        keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(4),
    ]
)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer="adam", loss=loss, metrics=["accuracy"])
model.fit(data, epochs=options.epochs, verbose=2)
