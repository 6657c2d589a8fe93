import { NOTES_BYTES, newId, type BodyOf, type Run, type routes } from '@svc/contract';
import {
  fail,
  failValidation,
  isUniqueViolation,
  requireId,
  type Caller,
  type PluginContext,
} from '@svc/kernel';
import type { IngestTarget } from '@svc/plugin-auth';
import type { AttemptPlan } from '@svc/plugin-jobs';
import { assignRun } from './assigned-runs.js';
import { ensureReportedRun } from './attempt-runs.js';
import { createRun, findImportedRun, type CreatedRun, type RunBody } from './create-run.js';
import { CONFIG_BYTES, fillRun, type Kept } from './fill-run.js';
import { finishRun, type RunEnd } from './finish-run.js';
import type { Liveness } from './liveness.js';
import { maskDocuments } from './run-documents.js';
import type { RunParts } from './run-parts.js';
import type { RunFields } from './run-row.js';
import { findRun, findTarget, findWholeRun, updateRun } from './run-store.js';

type RunUpdate = BodyOf<typeof routes.updateRun>;
type UpdatedRun = Run & { kept?: Kept };

const WRITE_FIELDS = ['name', 'tags', 'notes'] as const;

/** The schema limits the characters, each of which may take up to four bytes in UTF-8. */
function refuseLongNotes({ notes = '' }: Partial<RunFields>): void {
  const sizeBytes = Buffer.byteLength(notes);
  if (sizeBytes > NOTES_BYTES) {
    const message = `must be at most 16 KiB (${NOTES_BYTES} bytes of UTF-8), not ${sizeBytes} bytes; shorten them`;
    failValidation({ path: 'notes', message });
  }
}

/** A training may not learn of the runs of others by their keys, so the token of a job or a run is none for imports. */
function refuseImportKey({ ingest }: Caller, { import_key }: RunBody): void {
  if (import_key !== undefined && ingest !== null)
    fail('forbidden', 'an import_key needs a token of sdk or write scope');
}

/** The operations on runs; each change is one transaction. */
export class RunOperations {
  constructor(
    private readonly ctx: Pick<PluginContext, 'db' | 'clock' | 'transaction'>,
    private readonly parts: RunParts,
    private readonly liveness: Liveness,
  ) {}

  /** Of two requests with one import_key that come together, the second one finds the run of the first at its second try. */
  async create(caller: Caller, body: RunBody): Promise<CreatedRun> {
    refuseImportKey(caller, body);
    const create = () =>
      this.ctx.transaction(async (tx) => {
        const at = this.ctx.clock.now();
        const imported = await findImportedRun(this.parts, tx, body, at);
        return imported ?? createRun(this.parts, tx, caller, body, at);
      });
    return create().catch((error: unknown) => {
      if (body.import_key !== undefined && isUniqueViolation(error)) return create();
      throw error;
    });
  }

  async finish(caller: Caller, id: string, end: RunEnd): Promise<Run> {
    const run = await this.#requireOwn(caller, id);
    await this.ctx.transaction((tx) => finishRun(this.parts, tx, run.id, end, this.ctx.clock.now()));
    return this.require(run.id);
  }

  /** `name`, `tags` and `notes` need write scope; the token of the training may change the other fields. */
  async update(caller: Caller, id: string, { fill, ...fields }: RunUpdate): Promise<UpdatedRun> {
    const before = await this.#requireOwn(caller, id);
    const forWrite = WRITE_FIELDS.filter((field) => field in fields);
    if (forWrite.length > 0 && caller.scope !== 'write')
      fail('forbidden', `changing ${forWrite.join(', ')} of a run needs a token of write scope`);
    refuseLongNotes(fields);
    // A change by a person is no sign of life of the training.
    if (forWrite.length === 0) await this.liveness.note(before);
    const masked = { ...fields, ...maskDocuments(fields) };
    const at = this.ctx.clock.now();
    const { after, filled } = await this.ctx.transaction(async (tx) => {
      await updateRun(tx, before.id, masked);
      const filled =
        fill && (await fillRun(this.parts, tx, before.id, { ...fill, ...maskDocuments(fill) }, at));
      const after = (await findWholeRun(tx, before.id)) ?? fail('not_found', `no run "${id}"`);
      this.parts.changed(tx, { before, after });
      return { after, filled };
    });
    if (filled?.isConfigTaken === false) await this.#tellFullConfig(before);
    return filled ? { ...after, kept: filled.kept } : after;
  }

  /** Once for each run. */
  async #tellFullConfig(run: Run): Promise<void> {
    const title = 'Hyperparameters are left out of the config';
    const message = `With them the config of the run would be larger than ${CONFIG_BYTES / 1024} KiB. Others that come later and do not fit are left out too.`;
    await this.parts.events.report(run, {
      body: { title, message, severity: 'warning' },
      key: 'svc: config is full',
    });
  }

  /** The run with its complete config and environment. */
  async require(id: string): Promise<Run> {
    return (await findWholeRun(this.ctx.db, requireId('run', id))) ?? fail('not_found', `no run "${id}"`);
  }

  async requireIngest(caller: Caller, id: string): Promise<Run> {
    const run = await this.#requireOwn(caller, id);
    await this.liveness.note(run);
    return run;
  }

  async requireTarget(caller: Caller, id: string): Promise<IngestTarget> {
    const run =
      (await findTarget(this.ctx.db, requireId('run', id))) ?? (await this.#requireReported(caller, id));
    this.#refuseOthers(caller, run);
    return run;
  }

  async #requireOwn(caller: Caller, id: string): Promise<Run> {
    const run =
      (await findRun(this.ctx.db, requireId('run', id))) ?? (await this.#requireReported(caller, id));
    this.#refuseOthers(caller, run);
    return run;
  }

  /** The caller with the token of an attempt is its process: the run assigned to the attempt is created. Throws not_found. */
  async #requireReported({ ingest }: Caller, id: string): Promise<Run> {
    const key = ingest !== null && 'job_id' in ingest ? ingest : fail('not_found', `no run "${id}"`);
    const run = await this.ctx.transaction((tx) =>
      ensureReportedRun(this.parts, tx, key, requireId('run', id), this.ctx.clock.now()),
    );
    return run ?? fail('not_found', `no run "${id}"`);
  }

  #refuseOthers(caller: Caller, run: IngestTarget): void {
    if (!this.parts.auth.mayIngest(caller, run)) fail('forbidden', `the token is not good for run ${run.id}`);
  }

  /** Gives the process of a TRAIN job the id of its run, which does not exist yet. */
  async prepare(plan: AttemptPlan): Promise<AttemptPlan> {
    const { job, attempt } = plan;
    if (job.type !== 'TRAIN' || job.node_id === null) return plan;
    const destination = { job_id: job.id, attempt, node_id: job.node_id };
    const run_id = await assignRun(this.ctx.db, destination, newId('run', this.ctx.clock.now()));
    return { ...plan, run_id, env: { ...plan.env, SVC_RUN_ID: run_id } };
  }
}
