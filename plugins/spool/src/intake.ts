import {
  toId,
  type AttemptKey,
  type Issue,
  type Run,
  type SpoolFrame,
  type SpoolRecord,
} from '@svc/contract';
import { fail, HttpError, isDatabaseOutage, requireId, type Caller, type PluginContext } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';
import type { AgentNode, Nodes } from '@svc/plugin-nodes';
import type { Runs } from '@svc/plugin-runs';
import { parseRecord } from './parse-record.js';
import type { RecordStore } from './record-store.js';
import type { RefusalEvents } from './refusal-events.js';

/** A retry would be refused again. Records with other errors may be accepted later. */
const FINAL_CODES = new Set(['validation_error', 'not_found', 'forbidden', 'conflict', 'payload_too_large']);
const REPORT_EVERY_MS = 60_000;
/** After this many failures of the server, other than outages of the database, a record is refused: agents retry for about half a minute. */
const MAX_TRIES = 8;
const MAX_FAILING = 10_000;

interface Refusal {
  readonly reason: string;
}

type Outcome = 'committed' | 'later' | Refusal;

interface Taken {
  readonly to: number;
  readonly outcome: Exclude<Outcome, 'later'>;
}

interface Line {
  readonly to: number;
  readonly record: SpoolRecord | Refusal;
}

type PointsRecord = Extract<SpoolRecord, { kind: 'points' }>;
type RunOf = (id: string) => Promise<Run>;

/** Stores the records of spool frames and acknowledges each frame with the offset up to which its lines were processed. */
export class SpoolIntake {
  #reportedAt = -Infinity;
  /** The failures of each record that the server has failed on. */
  readonly #failing = new Map<string, number>();

  constructor(
    private readonly ctx: PluginContext,
    private readonly nodes: Nodes,
    private readonly jobs: Jobs,
    private readonly runs: Runs,
    private readonly store: RecordStore,
    private readonly refusals: RefusalEvents,
  ) {}

  async frame(frame: SpoolFrame, from: AgentNode): Promise<void> {
    const { job_id, attempt, file } = frame;
    const taken = await this.#takeAll(frame, this.#runsOf(frame, from));
    const offset = taken.at(-1)?.to ?? frame.from;
    const refused = taken.flatMap(({ to, outcome }) => (outcome === 'committed' ? [] : [{ to, ...outcome }]));
    await this.refusals.report(
      frame,
      from,
      refused.map(({ reason }) => reason),
    );
    this.nodes.send(from.id, { type: 'spool_ack', job_id, attempt, file, offset, refused });
  }

  /** Processes the lines up to the first that cannot be stored now. */
  async #takeAll(frame: SpoolFrame, runOf: RunOf): Promise<Taken[]> {
    const taken: Taken[] = [];
    for (const group of toGroups(frame.lines.map(parseLine))) {
      const outcomes = await this.#takeGroup(group, runOf, frame);
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome === 'later') return taken;
        taken.push({ to: (group[index] as Line).to, outcome });
      }
    }
    return taken;
  }

  /** Stores the points of several lines as one batch. If that fails, it stores them line by line, so that each has its own outcome. */
  async #takeGroup(group: readonly Line[], runOf: RunOf, frame: SpoolFrame): Promise<Outcome[]> {
    const all = group.length > 1 ? toOneBatch(group) : null;
    const isTaken = all !== null && (await succeeds(this.#take(all, runOf, frame)));
    if (isTaken) return group.map(() => 'committed');
    const outcomes: Outcome[] = [];
    for (const line of group) outcomes.push(await this.#takeLine(line, runOf, frame));
    return outcomes;
  }

  async #takeLine({ to, record }: Line, runOf: RunOf, frame: SpoolFrame): Promise<Outcome> {
    if ('reason' in record) return record;
    const position = `${frame.job_id} ${frame.attempt} ${frame.file} ${to}`;
    try {
      await this.#takeInHalves(record, runOf, frame);
    } catch (error) {
      const refusal = toRefusal(error) ?? this.#refuseAfterRetries(error, position);
      if (refusal === null) this.#reportFailure(error, frame);
      else this.#failing.delete(position);
      return refusal ?? 'later';
    }
    this.#failing.delete(position);
    return 'committed';
  }

  /** Resolves after the commit. */
  async #take(record: SpoolRecord, runOf: RunOf, key: AttemptKey): Promise<void> {
    await this.store.store(record, await runOf(record.run_id), toCaller(key));
  }

  /** A point that is refused does not take the others of its line with it. Throws the refusal after all others are stored. */
  async #takeInHalves(record: SpoolRecord, runOf: RunOf, key: AttemptKey): Promise<void> {
    try {
      await this.#take(record, runOf, key);
    } catch (error) {
      const isInvalid = error instanceof HttpError && error.code === 'validation_error';
      if (!isInvalid || record.kind !== 'points' || record.body.points.length === 1) throw error;
      const { points } = record.body;
      const middle = points.length >> 1;
      const refusals: unknown[] = [];
      for (const half of [points.slice(0, middle), points.slice(middle)])
        await this.#takeInHalves({ ...record, body: { points: half } }, runOf, key).catch(
          (refusal: unknown) => {
            if (toRefusal(refusal) === null) throw refusal;
            refusals.push(refusal);
          },
        );
      if (refusals.length > 0) throw refusals[0];
    }
  }

  /** null when the record is to be retried. */
  #refuseAfterRetries(error: unknown, position: string): Refusal | null {
    if (this.ctx.signal.aborted || error instanceof HttpError || isDatabaseOutage(error)) return null;
    const tries = (this.#failing.get(position) ?? 0) + 1;
    if (this.#failing.size >= MAX_FAILING) this.#failing.clear();
    this.#failing.set(position, tries);
    return tries < MAX_TRIES ? null : { reason: `the server failed on it ${tries} times; its log says why` };
  }

  /** Looks up each run of a frame once. */
  #runsOf(key: AttemptKey, from: AgentNode): RunOf {
    const known = new Map<string, Promise<Run>>();
    return (id) => {
      const run = known.get(id) ?? this.#requireRun(key, from, id);
      known.set(id, run);
      return run;
    };
  }

  /** The run, if it belongs to that attempt on that node. */
  async #requireRun(key: AttemptKey, from: AgentNode, given: string): Promise<Run> {
    const id = requireId('run', given);
    const job_id = requireId('job', key.job_id);
    const { db } = this.ctx;
    const nodeId =
      (await this.runs.nodeOf(db, id)) ??
      (await this.jobs.attempt(db, { job_id, attempt: key.attempt }))?.node_id;
    if (nodeId !== from.id) fail('forbidden', `run ${id} is none of an attempt on node ${from.name}`);
    return this.runs.requireIngest(toCaller(key), id);
  }

  #reportFailure(err: unknown, { job_id, attempt }: AttemptKey): void {
    const now = this.ctx.clock.now();
    if (now - this.#reportedAt < REPORT_EVERY_MS) return;
    this.#reportedAt = now;
    this.ctx.log.error(
      { err, job_id, attempt },
      'a spooled record cannot be stored; its agent keeps it and tries again',
    );
  }
}

/** The records have the rights of the attempt's token, and no more. */
function toCaller({ job_id, attempt }: AttemptKey): Caller {
  const ingest = { job_id: toId('job', job_id) ?? job_id, attempt };
  return { token_id: '', name: 'spool', scope: 'sdk', ingest };
}

function parseLine({ to, text }: SpoolFrame['lines'][number]): Line {
  try {
    return { to, record: parseRecord(text) };
  } catch (error) {
    return { to, record: toRefusal(error) ?? { reason: 'the line cannot be read' } };
  }
}

/** Lines of points of one run and one origin that follow each other make a group, and every other line one of its own. */
function toGroups(lines: readonly Line[]): Line[][] {
  const groups: Line[][] = [];
  for (const line of lines) {
    const last = groups.at(-1);
    const origin = originOfPoints(line);
    if (last && origin !== null && originOfPoints(last[0] as Line) === origin) last.push(line);
    else groups.push([line]);
  }
  return groups;
}

function originOfPoints({ record }: Line): string | null {
  const isOfPoints = 'kind' in record && record.kind === 'points';
  return isOfPoints ? `${record.run_id} ${record.found === true}` : null;
}

function toOneBatch(group: readonly Line[]): SpoolRecord {
  const batches = group.map(({ record }) => record as PointsRecord);
  const points = batches.flatMap(({ body }) => body.points);
  return { ...(batches[0] as PointsRecord), body: { points } };
}

/** null when the record may be accepted later. */
function toRefusal(error: unknown): Refusal | null {
  return error instanceof HttpError && FINAL_CODES.has(error.code) ? { reason: toReason(error) } : null;
}

/** Names the first of several mistakes. */
function toReason({ message, details }: HttpError): string {
  const [first, ...others] = (details['errors'] ?? []) as Issue[];
  return first && others.length > 0 ? `${first.path}: ${first.message}; ${message}` : message;
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
