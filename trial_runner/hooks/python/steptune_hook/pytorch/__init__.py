# SPDX-License-Identifier: Apache-2.0
"""Family of PyTorch: reports what a program does, and changes settings that it has no option for.

hook        connects the parts, reports facts about the program, and removes all parts on a fault
progress steps, loss and phases, from the wrapped calls
batches, passes, evaluations   the step that each batch belongs to, passes over loaders, evaluations between steps
sample_count   the samples that steps train on
prefetched_batch   batches that are fetched before their turn
loaders, modules, backward, optimizers, checkpoints   the wrapped calls
loader_queue, worker_cpu   the queue of a loader, CPU time of its workers
gpu_parts, gpu_events   the GPU's own time
noise_looks, noise_estimate, micro_batches, rank_gradients   the gradient's noise, measured within a step or among ranks
received_gradients   parameters that get no gradient in some steps
replay      steps on kept batches, which need no loader
tensors, gradients   find tensors in a program's values, and gradients of its optimizers
knobs       settings that can be changed, and their current values
live        switches settings between two steps, for many configurations in one run
fork_server   forks trials from an interpreter that has imported the program's modules
"""

MODULES = ("torch",)


def install(module):
    from steptune_hook.pytorch import hook

    hook.install()
