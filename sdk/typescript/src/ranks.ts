/** What launchers set, the surest first: torchrun and accelerate; srun; mpirun of Open MPI, of MPICH and of Intel; PMIx; Horovod. */
const RANK_VARIABLES = [
  'RANK',
  'SLURM_PROCID',
  'OMPI_COMM_WORLD_RANK',
  'PMI_RANK',
  'PMIX_RANK',
  'HOROVOD_RANK',
];
/** Of a launcher that numbers hosts and their processes. */
const PARTIAL_RANK_VARIABLES = ['LOCAL_RANK', 'NODE_RANK', 'GROUP_RANK'];

/** Whether this process is another than the first of a distributed training. */
export function isSecondaryRank(env: NodeJS.ProcessEnv): boolean {
  const numbers = (names: readonly string[]) =>
    names.map((name) => env[name]?.trim() ?? '').filter((text) => /^[0-9]+$/.test(text));
  const [rank] = numbers(RANK_VARIABLES);
  const ranks = rank === undefined ? numbers(PARTIAL_RANK_VARIABLES) : [rank];
  return ranks.some((text) => Number(text) > 0);
}
