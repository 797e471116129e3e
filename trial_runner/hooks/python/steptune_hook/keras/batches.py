# SPDX-License-Identifier: Apache-2.0
"""Number of samples of a batch: the first dimension of its arrays."""

_MOST_DATASETS = 100  # transformations of one dataset


def rows(array):
    """Returns the first dimension; None if there is none, or if it is not known."""
    shape = getattr(array, "shape", None)
    if shape is None or getattr(shape, "rank", 0) is None or len(shape) == 0:
        return None
    return None if shape[0] is None else int(shape[0])


def rows_of_first(arrays):
    """Returns the first dimension of the first array that has one; None if none has one."""
    return next(filter(None, map(rows, arrays)), None)


def rows_of_largest(arrays):
    """Returns the first dimension of the largest array; None if none has one."""
    sizes = [(_size(array), rows(array)) for array in arrays if rows(array)]
    return max(sizes)[1] if sizes else None


def _size(array):
    size = 1
    for dimension in array.shape:
        size *= int(dimension or 1)
    return size


def rows_of_dataset(dataset):
    """Returns the batch size of a `tf.data.Dataset`; None if it is not known."""
    import tensorflow

    known = rows_of_first(tensorflow.nest.flatten(getattr(dataset, "element_spec", ())))
    for _ in range(_MOST_DATASETS):
        if known is not None or dataset is None:
            return known
        batch_size = getattr(dataset, "_batch_size", None)
        if batch_size is not None:
            return int(batch_size)
        dataset = getattr(dataset, "_input_dataset", None)
    return None


def rows_of_adapter(adapter):
    """Returns the batch size of Keras's adapter of training data; None if it is not known."""
    batch_size = adapter.batch_size
    if batch_size is not None:
        return int(batch_size)
    dataset = getattr(adapter, "_dataset", None)
    return rows_of_dataset(dataset) if hasattr(dataset, "element_spec") else None


def rows_of_last(adapter):
    """Returns the size of the last batch of an epoch if it is smaller; None if not, or if it is not known."""
    try:
        return int(adapter.partial_batch_size) if adapter.has_partial_batch else None
    except NotImplementedError:
        return None
