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

/** Sent again, it would be refused again. What fails otherwise may be taken later. */
const LASTING = new Set(['validation_error', 'not_found', 'forbidden', 'conflict', 'payload_too_large']);
const COMPLAIN_EVERY_MS = 60_000;
/** So often a record is tried that the server fails on while its database is well: about half a minute, as agents try again. */
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

/** Takes the spool frames of agents, line by line, and answers each frame with the mark that it has come to. */
export class SpoolIntake {
  #complainedAt = -Infinity;
  /** How often each record was tried that the server fails on. */
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
    await this.refusals.tell(
      frame,
      from,
      refused.map(({ reason }) => reason),
    );
    this.nodes.send(from.id, { type: 'spool_ack', job_id, attempt, file, offset, refused });
  }

  /** The lines up to the first that cannot be stored now. */
  async #takeAll(frame: SpoolFrame, runOf: RunOf): Promise<Taken[]> {
    const taken: Taken[] = [];
    for (const turn of toTurns(frame.lines.map(parseLine))) {
      const outcomes = await this.#takeTurn(turn, runOf, frame);
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome === 'later') return taken;
        taken.push({ to: (turn[index] as Line).to, outcome });
      }
    }
    return taken;
  }

  /** Points of several lines as one batch, and line by line only where that is not taken: then each has its own outcome. */
  async #takeTurn(turn: readonly Line[], runOf: RunOf, frame: SpoolFrame): Promise<Outcome[]> {
    const all = turn.length > 1 ? toOneBatch(turn) : null;
    const isTaken = all !== null && (await succeeds(this.#take(all, runOf, frame)));
    if (isTaken) return turn.map(() => 'committed');
    const outcomes: Outcome[] = [];
    for (const line of turn) outcomes.push(await this.#takeLine(line, runOf, frame));
    return outcomes;
  }

  async #takeLine({ to, record }: Line, runOf: RunOf, frame: SpoolFrame): Promise<Outcome> {
    if ('reason' in record) return record;
    const place = `${frame.job_id} ${frame.attempt} ${frame.file} ${to}`;
    try {
      await this.#take(record, runOf, frame);
    } catch (error) {
      const refusal = toRefusal(error) ?? this.#giveUp(error, place);
      if (refusal === null) this.#complain(error, frame);
      else this.#failing.delete(place);
      return refusal ?? 'later';
    }
    this.#failing.delete(place);
    return 'committed';
  }

  /** Resolves after the commit. */
  async #take(record: SpoolRecord, runOf: RunOf, key: AttemptKey): Promise<void> {
    await this.store.store(record, await runOf(record.run_id), toCaller(key));
  }

  /** null: it is to be tried again. */
  #giveUp(error: unknown, place: string): Refusal | null {
    if (this.ctx.signal.aborted || error instanceof HttpError || isDatabaseOutage(error)) return null;
    const tries = (this.#failing.get(place) ?? 0) + 1;
    if (this.#failing.size >= MAX_FAILING) this.#failing.clear();
    this.#failing.set(place, tries);
    return tries < MAX_TRIES ? null : { reason: `the server failed on it ${tries} times; its log says why` };
  }

  /** Each run of a frame is looked for once. */
  #runsOf(key: AttemptKey, from: AgentNode): RunOf {
    const known = new Map<string, Promise<Run>>();
    return (id) => {
      const run = known.get(id) ?? this.#requireRun(key, from, id);
      known.set(id, run);
      return run;
    };
  }

  /** The run, when it is of that attempt on that node. */
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

  #complain(err: unknown, { job_id, attempt }: AttemptKey): void {
    const now = this.ctx.clock.now();
    if (now - this.#complainedAt < COMPLAIN_EVERY_MS) return;
    this.#complainedAt = now;
    this.ctx.log.error(
      { err, job_id, attempt },
      'a spooled record cannot be stored; its agent keeps it and tries again',
    );
  }
}

/** The agent speaks for the attempt: what its process could do with the token of the attempt, and no more. */
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

/** Lines of points of one run that follow each other make a turn, and every other line one of its own. */
function toTurns(lines: readonly Line[]): Line[][] {
  const turns: Line[][] = [];
  for (const line of lines) {
    const last = turns.at(-1);
    const runId = runIdOfPoints(line);
    if (last && runId !== null && runIdOfPoints(last[0] as Line) === runId) last.push(line);
    else turns.push([line]);
  }
  return turns;
}

function runIdOfPoints({ record }: Line): string | null {
  return 'kind' in record && record.kind === 'points' ? record.run_id : null;
}

function toOneBatch(turn: readonly Line[]): SpoolRecord {
  const batches = turn.map(({ record }) => record as PointsRecord);
  const points = batches.flatMap(({ body }) => body.points);
  return { ...(batches[0] as PointsRecord), body: { points } };
}

/** null: it may be taken later. */
function toRefusal(error: unknown): Refusal | null {
  return error instanceof HttpError && LASTING.has(error.code) ? { reason: toReason(error) } : null;
}

/** Of several mistakes it names the first. */
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
