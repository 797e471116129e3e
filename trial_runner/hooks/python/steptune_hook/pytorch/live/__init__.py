# SPDX-License-Identifier: Apache-2.0
"""Many configurations in one run of the program, switched between two steps when the tuner says so.

channel     messages to and from the tuner
controller  makes each switch at its step, and reports steps with their configuration
passes      of all loaders: which of them may be switched, and to what
live_pass   an epoch's batches from changing workers, in the order of the untouched program
pools       workers that outlive a switch
"""

from steptune_hook.pytorch.live.controller import Live

__all__ = ["Live"]
