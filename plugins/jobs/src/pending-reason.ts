/** A node has room for the job, but the server failed to claim or to dispatch it. */
export const FAILED_HERE = 'its start failed on the server (see the server log); it is tried again';

/** The node with the most free GPUs that a job could have. */
export interface Freest {
  readonly node: string;
  readonly free: number;
  readonly of: number;
}

/** `troubled`: GPUs that it could have, if they were in order, as sentences, the worst first. */
export function waitingForGpus(
  gpu: number,
  ahead: number,
  troubled: readonly string[] = [],
  freest: Freest | null = null,
): string {
  const what = gpu === 1 ? '1 free GPU' : `${gpu} free GPUs on one node`;
  return `waiting for ${what}${behind(ahead)}${without(troubled, freest, gpu)}`;
}

const TROUBLED_SHOWN = 2;

/** A node that has enough of them is kept for another job: how many are free explains nothing. */
function without(troubled: readonly string[], freest: Freest | null, gpu: number): string {
  if (troubled.length === 0) return '';
  const isTold = freest !== null && freest.free > 0 && freest.free < gpu;
  const free = isTold ? `${freest.free} of ${freest.of} are free on ${freest.node}; ` : '';
  const more = troubled.length - TROUBLED_SHOWN;
  const shown = troubled.slice(0, TROUBLED_SHOWN).join('; ');
  return `: ${free}${shown}${more > 0 ? `; and ${more} more GPU${more === 1 ? ' is' : 's are'} not usable` : ''}`;
}

export function waitingForCpu(ahead: number): string {
  return `waiting for a free cpu-only place${behind(ahead)}`;
}

export function backingOff(attempt: number, notBefore: number): string {
  return `attempt ${attempt} waits until ${new Date(notBefore).toISOString().replace(/\.\d+Z$/, 'Z')} (back-off of automatic retries)`;
}

const EXACT_UP_TO = 10;

/**
 * Beyond ten the count is rounded (more than 10, 20, ... 100, 200, ...): otherwise each job that starts would change the stored reason of
 * every job behind it.
 */
function behind(ahead: number): string {
  if (ahead === 0) return '';
  if (ahead <= EXACT_UP_TO) return ` behind ${ahead} job${ahead === 1 ? '' : 's'}`;
  const magnitude = 10 ** Math.floor(Math.log10(ahead - 1));
  return ` behind more than ${Math.floor((ahead - 1) / magnitude) * magnitude} jobs`;
}
