import type { GpuProcess, SlotHealth } from '@svc/contract';
import type { Settings } from './options.js';

/** A process on a device, with what is known of it. */
export interface SeenProcess extends Omit<GpuProcess, 'gpu' | 'job_id' | 'mem_mb'> {
  /** It only draws, as a display server does. */
  readonly isGraphics: boolean;
  /** null: it is not told. */
  readonly memoryMb: number | null;
  /** Of this node; null: of none; undefined: nobody knows. */
  readonly job: string | null | undefined;
}

export interface Sight {
  /** Why the device cannot be used. */
  readonly trouble: string | null;
  readonly processes: readonly SeenProcess[];
  /** null: it is not told. */
  readonly usedMb: number | null;
  /** The job whose attempt holds the slot now. */
  readonly holder: string | null;
  /** The job whose attempt held it last and has not been seen to be gone from it. */
  readonly leftBy: string | null;
}

/** `kind` changes when the reason does in what matters: figures that go up and down change nothing. */
export interface Verdict extends Pick<SlotHealth, 'state' | 'reason'> {
  readonly kind: string;
}

const SHOWN = 2;

/** Whether a slot can take a job. */
export function judge(
  sight: Sight,
  limits: Pick<Settings, 'foreign' | 'foreignMb' | 'unexplainedMb'>,
): Verdict {
  if (sight.trouble !== null) return verdict('unhealthy', sight.trouble);
  return (
    findLeftover(sight) ??
    (limits.foreign === 'skip' ? findForeign(sight, limits) : null) ??
    findUnexplained(sight, limits) ??
    OK
  );
}

const OK: Verdict = { state: 'ok', reason: null, kind: '' };

/** A process of a job that has ended, or one that came with it and does not say whose it is. */
function findLeftover({ processes, holder, leftBy }: Sight): Verdict | null {
  if (holder !== null) return null;
  const left = processes.filter(
    ({ job, isGraphics }) =>
      !isGraphics && (typeof job === 'string' || (job === undefined && leftBy !== null)),
  );
  if (left.length === 0) return null;
  const jobs = [...new Set(left.map(({ job }) => job ?? leftBy))].join(' and ');
  return verdict('quarantined', `is still used by ${list(left)} of ${jobs}, which does not hold it`, left);
}

/** Processes of no job, or of a job that was given another GPU. While an attempt holds the slot, one that cannot be looked into is taken for its own. */
function findForeign(
  { processes, holder }: Sight,
  { foreignMb }: Pick<Settings, 'foreignMb'>,
): Verdict | null {
  const foreign = processes.filter(({ job, isGraphics }) => !isGraphics && isForeign(job, holder));
  const memoryMb = foreign.reduce((sum, process) => sum + (process.memoryMb ?? foreignMb), 0);
  if (foreign.length === 0 || memoryMb < foreignMb) return null;
  const areJobs = foreign.every(({ job }) => typeof job === 'string');
  const what = areJobs
    ? 'of a job that does not hold it'
    : `which ${foreign.length === 1 ? 'is not a job' : 'are not jobs'} of svc`;
  return verdict('foreign', `is used by ${list(foreign)}, ${what}`, foreign);
}

function isForeign(job: SeenProcess['job'], holder: string | null): boolean {
  return job === undefined ? holder === null : job === null || job !== holder;
}

/** Memory that is in use and that no process on the list has: what was left behind, or a process that cannot be seen from here. */
function findUnexplained(
  { processes, usedMb, holder, leftBy }: Sight,
  limits: Pick<Settings, 'foreign' | 'unexplainedMb'>,
): Verdict | null {
  if (holder !== null || usedMb === null || (leftBy === null && limits.foreign === 'ignore')) return null;
  const explainedMb = processes.reduce((sum, { memoryMb }) => sum + (memoryMb ?? Infinity), 0);
  const unexplainedMb = usedMb - explainedMb;
  if (unexplainedMb <= limits.unexplainedMb) return null;
  const memory = `${toSize(unexplainedMb)} of its memory in use by no process that can be seen`;
  return leftBy === null
    ? verdict('foreign', `has ${memory}`)
    : verdict('quarantined', `still has ${memory}, since ${leftBy} ended`);
}

function verdict(
  state: SlotHealth['state'],
  reason: string,
  processes: readonly SeenProcess[] = [],
): Verdict {
  const kind = processes.length > 0 ? processes.map(({ pid }) => pid).join() : reason.replaceAll(/\d+/g, '');
  return { state, reason: reason.slice(0, 1000), kind: `${state} ${kind}` };
}

/** `python (pid 4711, alice, 10 GiB)` and more. */
function list(processes: readonly SeenProcess[]): string {
  const shown = processes.slice(0, SHOWN).map(describe).join(' and ');
  const more = processes.length - SHOWN;
  return more > 0 ? `${shown} and ${more} more` : shown;
}

function describe({ pid, name, user, memoryMb }: SeenProcess): string {
  const about = [`pid ${pid}`, user, memoryMb === null ? null : toSize(memoryMb)].filter(
    (each) => each !== null,
  );
  return `${name || 'a process'} (${about.join(', ')})`;
}

function toSize(mb: number): string {
  return mb < 1024 ? `${Math.round(mb)} MiB` : `${Math.round(mb / 1024)} GiB`;
}
