# SPDX-License-Identifier: Apache-2.0
"""Measures many configurations in one run of the program, and switches between two steps when the tuner says so.

channel     messages to and from the tuner
controller  makes each switch at its step, and reports steps with their configuration
passes passes over all loaders: why a pass may not be switched, and the switches
live_pass   an epoch's batches from changing workers, in the order of the untouched program
pools       workers that outlive a switch
"""

from steptune_hook.pytorch.live.controller import Live

__all__ = ["Live"]
