import { JUST_QUEUED, newId, type Job, type JobDraft, type JobSubmit } from '@svc/contract';
import {
  Issues,
  fail,
  isUniqueViolation,
  toSearchName,
  type Caller,
  type Db,
  type PluginContext,
} from '@svc/kernel';
import type { Projects } from '@svc/plugin-projects';
import { checkRunner, toDraft } from './draft.js';
import { jobAdmit, jobDraft } from './hooks.js';
import { findRepeated, rememberKey, type IdempotencyKey } from './idempotency.js';
import { queuedEvent } from './job-events.js';
import type { JobRow } from './job-row.js';
import { getJob } from './job-store.js';
import type { SubmitRequest, Submitted } from './service.js';
import type { Transitions } from './transition.js';

/** Two servers on one database may choose the same `created_at`; each try starts from the newest job. */
const MAX_TRIES = 10;

/** Checks submitted jobs and stores them. */
export class Submitter {
  #lastCreatedAt = 0;

  constructor(
    private readonly ctx: PluginContext,
    private readonly projects: Projects,
    private readonly transitions: Transitions,
  ) {}

  /** Reads the newest `created_at`: no two jobs may share one, as pages are cut by it. */
  async start(): Promise<void> {
    const newest = (await this.ctx.db<JobRow>('jobs').max({ at: 'created_at' }).first()) as
      { at: number | null } | undefined;
    this.#lastCreatedAt = Math.max(this.#lastCreatedAt, newest?.at ?? 0);
  }

  async submit(request: SubmitRequest): Promise<Submitted> {
    const { body, caller, idempotency } = request;
    const draft = (await this.#repeated(idempotency)) ?? (await this.#toDraft(body, caller));
    if ('isRepeated' in draft) return draft;
    for (let tries = 1; ; tries++) {
      try {
        return { job: await this.#store(draft, request), isRepeated: false };
      } catch (error) {
        if (!isUniqueViolation(error) || tries === MAX_TRIES) throw error;
        const repeated = await this.#repeated(idempotency);
        if (repeated) return repeated;
        await this.start();
      }
    }
  }

  async #repeated(key: IdempotencyKey | null): Promise<Submitted | null> {
    const id = key && (await findRepeated(this.ctx.db, key, this.ctx.clock.now()));
    const job = id === null ? null : await getJob(this.ctx.db, id);
    return job && { job, isRepeated: true };
  }

  async #toDraft(body: JobSubmit, caller: Caller): Promise<JobDraft> {
    const { runners } = this.ctx.registered;
    const issues = new Issues();
    const bare = toDraft(body, runners, issues);
    issues.throwIfAny();
    const draft = await this.ctx.fire(jobDraft, bare, caller);
    const runner =
      runners.get(draft.runner) ?? fail('internal', `a plugin chose the unknown runner "${draft.runner}"`);
    checkRunner(draft, runner, issues);
    await this.ctx.fire(jobAdmit, draft, caller, issues);
    issues.throwIfAny();
    return draft;
  }

  async #store(draft: JobDraft, { idempotency, evaluation }: SubmitRequest): Promise<Job> {
    return this.ctx.transaction(async (tx) => {
      const at = this.ctx.clock.now();
      const row = await this.#insert(tx, draft, evaluation, at);
      if (idempotency) await rememberKey(tx, idempotency, row.id, at);
      await evaluation?.store(tx, row.id, at);
      return this.transitions.record(tx, row, null, at, { event: queuedEvent });
    });
  }

  async #insert(
    trx: Db,
    draft: JobDraft,
    evaluation: SubmitRequest['evaluation'],
    at: number,
  ): Promise<JobRow> {
    const placed = await this.projects.resolve(
      trx,
      { project: draft.project, experiment: draft.experiment },
      at,
    );
    const createdAt = Math.max(at, this.#lastCreatedAt + 1);
    this.#lastCreatedAt = createdAt;
    const row: JobRow = {
      id: newId('job', createdAt),
      name: draft.name,
      type: draft.type,
      command: JSON.stringify(draft.command),
      working_dir: draft.working_dir,
      snapshot: draft.snapshot,
      runner: draft.runner,
      runner_options: JSON.stringify(draft.runner_options),
      gpu: draft.resources.gpu,
      priority: draft.priority,
      project: draft.project ?? placed.project,
      experiment: draft.experiment ?? placed.experiment,
      project_id: placed.project_id,
      experiment_id: placed.experiment_id,
      env: JSON.stringify(draft.env),
      node_selector: JSON.stringify(draft.node_selector),
      max_attempts: draft.max_attempts,
      attempt: 1,
      status: 'QUEUED',
      pending_reason: JUST_QUEUED,
      exit_code: null,
      failure_reason: null,
      failure_message: null,
      run_id: null,
      checkpoint_id: evaluation?.checkpoint_id ?? null,
      evaluation_id: evaluation?.id ?? null,
      node_id: null,
      gpu_indices: '[]',
      created_at: createdAt,
      queued_at: at,
      dispatched_at: null,
      started_at: null,
      finished_at: null,
      cancel_requested_at: null,
      not_before: null,
      retry_at: null,
      head_since: null,
      search_name: toSearchName(draft.name),
      preferred_node_id: evaluation?.preferred_node_id ?? null,
    };
    await trx<JobRow>('jobs').insert(row);
    return row;
  }
}
