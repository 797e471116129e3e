# SPDX-License-Identifier: Apache-2.0
"""Family of PyTorch: reports what a program does, and changes settings that it has no option for.

hook        connects the parts; removes all of them on a fault
progress    steps, loss and phases, from the wrapped calls
batches, passes, evaluations   the step that each batch belongs to, passes over loaders, evaluations between steps
sample_count, counted_inputs   the samples that steps train on
prefetched_batch, no_grad_batch   batches that are fetched before their turn, or for an evaluation
loaders, modules, backward, optimizers, checkpoints   the wrapped calls
loader_queue, noise_looks, gpu_parts   the queue of a loader, the gradient's noise, the GPU's own time
worker_cpu  CPU time of a loader's workers
micro_batches, rank_gradients   measure the gradient's noise: within a step, among ranks
knobs       settings that can be changed, and their current values
live        switches settings between two steps, for many configurations in one run
fork_server   forks trials from an interpreter that has imported the program's modules
"""

MODULES = ("torch",)


def install(module):
    from steptune_hook.pytorch import hook

    hook.install()
