# SPDX-License-Identifier: Apache-2.0
"""Steps of `Model.fit`, which Keras reports to its callbacks, and of `Model.train_on_batch`."""

import functools

from steptune_hook.keras import batches
from steptune_hook.keras.turns import Turns
from steptune_hook.patches import calling


def owner_of(model_class, method):
    """Returns the class that defines a method of a class."""
    return next(owner for owner in model_class.__mro__ if method in owner.__dict__)


def loss_in(logs):
    """Returns a function that reads the loss of a step's logs: `loss`, otherwise the first entry whose name contains
    `loss`."""
    if not isinstance(logs, dict):
        return None
    name = "loss" if "loss" in logs else next((name for name in logs if "loss" in name), None)
    return None if name is None else lambda: float(logs[name])


_MOST_DATA = 2  # with two different data sets, the samples of an epoch are unknown, so no more are reported


class Fits:
    def __init__(self, hook):
        self._hook = hook
        self._model = None  # the model that is training now
        self._adapter = None  # the adapter of that model's training data
        self._first_epoch = 0
        self._begun = 0  # index of the current batch
        self._epoch_steps = 0
        self._epoch_samples = 0
        self._rows = None  # samples of a batch
        self._rows_of_last = None  # samples in the last batch of an epoch, if that batch is smaller
        self._turns = Turns()  # rounds of the models in `train_on_batch`
        self._trainings = 0  # calls of `fit` so far
        self._data = []  # reported facts about the different data sets of these calls

    def fit(self, original, model, arguments, named):
        def given(name, place, otherwise):
            return named.get(name, arguments[place] if len(arguments) > place else otherwise)

        if self._model is not None or not self._hook.counts_here() or not self._hook.guarded(
            self._begins, model, "batch of fit", given("callbacks", 5, None)
        ):
            return original(model, *arguments, **named)
        self._model = model
        self._first_epoch = given("initial_epoch", 11, 0)
        self._hook.apart += 1  # functions that Keras calls are not a loop of the program itself
        try:
            return original(model, *arguments, **named)
        finally:
            self._hook.apart -= 1
            self._model = self._adapter = None

    def _begins(self, model, counts, callbacks=None):
        """`counts`: the call that counts as a step."""
        if not self._hook.trains_alone():
            return False
        self._hook.training_begins()
        self._hook.counts = counts
        self._hook.optimizers.add(type(model.optimizer).__name__)
        self._hook.knobs.models.settle(model, callbacks, is_fit=counts != "train_on_batch")
        return True

    def data_given(self, data, steps_per_epoch):
        """Called with the data of each iterator, before Keras makes its adapter, which starts workers. In `fit`, the
        first data are the training data."""
        if self._model is not None and self._adapter is None:
            self._hook.knobs.datasets_of_python.settle(data, steps_per_epoch)

    def data_adapted(self, adapter):
        if self._model is not None and self._adapter is None:
            self._adapter = adapter

    def has_workers(self):
        """True if workers of Keras load the training data."""
        return getattr(self._adapter, "enqueuer", None) is not None

    def _is_own(self, callbacks):
        return self._model is not None and callbacks.model is self._model and self._hook.active

    def train_begins(self, callbacks):
        self._rows = batches.rows_of_adapter(self._adapter)
        self._rows_of_last = batches.rows_of_last(self._adapter)
        epochs, steps = callbacks.params.get("epochs"), callbacks.params.get("steps")
        self._tell_plan(epochs, steps)

    def _tell_plan(self, epochs, steps):
        hook = self._hook
        self._trainings += 1
        # A program may call `fit` several times. So the epochs of the first call are a plan only while there is no
        # second call.
        is_planned = self._trainings == 1 and epochs is not None
        hook.planned_epochs = int(epochs) - self._first_epoch if is_planned else None
        if self._trainings == 2:
            hook.survey_after_step()
        fields = {"training": True, "dataset": type(self._adapter).__name__, "where": ""}
        fields.update(length=steps, batch_size=self._rows)
        if steps and self._rows and self._rows_of_last and steps == self._adapter.num_batches:
            fields["samples"] = (steps - 1) * self._rows + self._rows_of_last
        if fields not in self._data and len(self._data) < _MOST_DATA:
            self._data.append(fields)
            place = len(self._data) - 1
            hook.events.tell("loader", place, id=str(place), **fields)

    def epoch_begins(self, callbacks):
        self._epoch_steps = self._epoch_samples = 0

    def batch_begins(self, callbacks, batch):
        self._begun = batch

    def batch_ended(self, callbacks, batch, logs):
        last = batch
        if callbacks.params.get("steps"):
            last = min(batch, callbacks.params["steps"] - 1)
        steps = max(1, last + 1 - self._begun)
        self._epoch_steps += steps
        if self._rows is None and self._epoch_steps == steps:
            counted = self._counted_by_keras()
            self._rows = counted / steps if counted else None
        samples = (self._rows or 0) * steps
        if self._rows_of_last and last + 1 == self._adapter.num_batches:
            samples += self._rows_of_last - self._rows
        self._epoch_samples += int(samples)
        self._hook.counted(int(samples), loss_in(logs), steps)

    def epoch_ends(self):
        """Corrects the samples of the epoch, whose last batch may be smaller, by Keras's own count. An evaluation
        within an epoch ends the count, since Keras then starts again at zero."""
        counted, steps, samples = self._counted_by_keras(), self._epoch_steps, self._epoch_samples
        self._epoch_steps = self._epoch_samples = 0
        if steps and self._rows and steps * self._rows / 2 < counted <= steps * self._rows:
            self._hook.progress.correct_samples(counted - samples)

    def _counted_by_keras(self):
        """Returns the samples of the epoch, as counted by Keras's mean of the loss; 0 if they are unknown."""
        count = getattr(getattr(self._model, "_loss_tracker", None), "count", None)
        return 0 if count is None else int(round(float(count)))

    def evaluation_begins(self):
        if self._model is not None:
            self.epoch_ends()

    def train_on_batch(self, original, model, arguments, named):
        hook = self._hook
        if not hook.counts_here() or not hook.guarded(self._begins, model, "train_on_batch"):
            return original(model, *arguments, **named)
        hook.apart += 1
        try:
            output = original(model, *arguments, **named)
        finally:
            hook.apart -= 1
        data = arguments[0] if arguments else named.get("x")
        hook.guarded(self._batch_on_its_own_ended, model, data, output)
        return output

    def _batch_on_its_own_ended(self, model, data, output):
        if not self._turns.new_steps(model):
            return
        if isinstance(data, dict):
            data = list(data.values())
        array = data[0] if isinstance(data, (list, tuple)) and data and hasattr(data[0], "shape") else data
        first = output[0] if isinstance(output, (list, tuple)) else output
        loss = loss_in(first) if isinstance(first, dict) else (lambda: float(first)) if first is not None else None
        self._hook.counted(batches.rows(array) or 0, loss)


def wrap(hook, keras):
    fits = hook.fits = Fits(hook)
    patches = hook.patches
    callback_list = keras.callbacks.CallbackList

    def wrap_callback(before, original):
        def method(callbacks, *arguments, **named):
            if fits._is_own(callbacks):
                hook.guarded(before, callbacks, *arguments, *named.values())
            return original(callbacks, *arguments, **named)

        return method

    for name, call in (("fit", fits.fit), ("train_on_batch", fits.train_on_batch)):
        patches.replace(owner_of(keras.Model, name), name, calling(call))
    for name, before in (
        ("on_train_begin", lambda callbacks, *_: fits.train_begins(callbacks)),
        ("on_epoch_begin", lambda callbacks, *_: fits.epoch_begins(callbacks)),
        ("on_train_batch_begin", lambda callbacks, batch, *_: fits.batch_begins(callbacks, batch)),
        ("on_train_batch_end", lambda callbacks, batch, logs=None: fits.batch_ended(callbacks, batch, logs)),
        ("on_epoch_end", lambda *_: fits.epoch_ends()),
    ):
        patches.replace(callback_list, name, functools.partial(wrap_callback, before))

    from keras.src.trainers.epoch_iterator import EpochIterator

    def wrap_iterator(original):
        def __init__(iterator, x, *arguments, **named):
            if hook.active:
                hook.guarded(fits.data_given, x, named.get("steps_per_epoch"))
            original(iterator, x, *arguments, **named)
            if hook.active:
                hook.guarded(fits.data_adapted, iterator.data_adapter)

        return __init__

    patches.replace(EpochIterator, "__init__", wrap_iterator)
