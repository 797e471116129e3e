# SPDX-License-Identifier: Apache-2.0
"""Steptune's import hook for PyTorch: reports what a program does and sets what it has no option for.

arrival     enters when torch is imported
hook        puts the parts together; takes everything back on a fault
patches     replaced attributes, and their way back
progress    steps, samples, loss, phases from what the wrapped calls tell
ahead, no_grad_batch   batches whose forward comes later, or is an evaluation's
loaders, modules, backward, optimizers, checkpoints   the wrapped calls
loader_queue, noise_looks, gpu_parts   the queue of a loader, the gradient's noise, the GPU's own time
worker_cpu  CPU time of a loader's workers
micro_batches, rank_gradients   a look at the gradient's noise: within a step, among ranks
knobs       what can be set, and what the program does today
live        switches between two steps, for many configurations in one run
report      lines and events
"""
