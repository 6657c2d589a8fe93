"""Which process of a distributed training this is."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

# What launchers set, the surest first: torchrun, accelerate and DeepSpeed; srun; mpirun of Open MPI, of MPICH and of
# Intel; PMIx; Horovod.
RANK_VARIABLES = (
    "RANK",
    "SLURM_PROCID",
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
    "PMIX_RANK",
    "HOROVOD_RANK",
)
# Of a launcher that numbers hosts and their processes, as that of Lightning does.
PARTIAL_RANK_VARIABLES = ("LOCAL_RANK", "NODE_RANK", "GROUP_RANK")


def is_secondary_rank(env: Mapping[str, str] = os.environ) -> bool:
    """Whether this process is another than the first of a distributed training."""
    rank = _rank_of_torch()
    if rank is None:
        rank = next((rank for rank in (_number(env, name) for name in RANK_VARIABLES) if rank is not None), None)
    if rank is None:
        rank = max((_number(env, name) or 0 for name in PARTIAL_RANK_VARIABLES), default=0)
    return rank > 0


def _rank_of_torch() -> int | None:
    """The rank in torch.distributed, when the training has imported and begun it."""
    distributed = sys.modules.get("torch.distributed")
    try:
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return int(distributed.get_rank())
    except Exception:
        pass
    return None


def _number(env: Mapping[str, str], name: str) -> int | None:
    text = env.get(name, "").strip()
    return int(text) if text.isdigit() else None
