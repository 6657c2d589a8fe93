import type { Db, PluginContext } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';
import type { Runs } from '@svc/plugin-runs';
import { keepersOf } from './belongings.js';
import type { Criteria } from './criteria.js';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly finished_at: number;
}

type Kind = 'job' | 'run';

/** Ids; runs come before the job that they belong to. */
export type Subject = Readonly<Record<Kind, readonly string[]>>;

/** A job with its runs, or a run that has no job; they go together or not at all. */
export interface Candidate extends Row {
  readonly subject: Subject;
  /** One of its runs has the tag that keeps it. */
  readonly isKept: boolean;
}

const PAGE = 200;

/** What may go. Left out is what may still be at work: what another record keeps, and a job that has a run which is RUNNING. */
export class Candidates {
  constructor(
    private readonly ctx: Pick<PluginContext, 'db' | 'registered'>,
    private readonly jobs: Jobs,
    private readonly runs: Runs,
  ) {}

  /** Oldest first, jobs before runs. */
  async *list(criteria: Criteria): AsyncGenerator<Candidate, undefined> {
    const { db } = this.ctx;
    for (const kind of ['job', 'run'] as const) {
      let page: Row[] = [];
      do {
        page = await this.#readPage(kind, criteria, page.at(-1));
        for (const row of page) {
          const candidate = await this.#find(db, kind, row, criteria);
          if (candidate) yield candidate;
        }
      } while (page.length === PAGE);
    }
  }

  /** Again, within the transaction that decides: null when it must stay by now. */
  async lock(db: Db, { id }: Candidate, criteria: Criteria): Promise<Candidate | null> {
    const kind = isJob(id) ? 'job' : 'run';
    const row = (await this.#select(db, kind, criteria).where({ id }).forUpdate().first()) as Row | undefined;
    const candidate = row && (await this.#find(db, kind, row, criteria));
    return candidate?.isKept === false ? candidate : null;
  }

  #select(db: Db, kind: Kind, { before, projectId, states }: Criteria) {
    const query = (kind === 'job' ? this.jobs : this.runs).query(db);
    if (projectId !== null) void query.where({ project_id: projectId });
    return query.whereIn('status', [...states]).where('finished_at', '<', before);
  }

  async #readPage(kind: Kind, criteria: Criteria, after: Row | undefined): Promise<Row[]> {
    const query = this.#select(this.ctx.db, kind, criteria).orderBy(['finished_at', 'id']).limit(PAGE);
    if (after) void query.whereRaw('(finished_at, id) > (?, ?)', [after.finished_at, after.id]);
    return (await query) as Row[];
  }

  async #find(db: Db, kind: Kind, row: Row, { keepTag }: Criteria): Promise<Candidate | null> {
    const runs = kind === 'run' ? [row] : await this.runs.ofJob(db, row.id);
    if (runs.some(({ status }) => status === 'RUNNING')) return null;
    const subject = toSubject(row.id, runs);
    if (await this.isInUse(db, subject)) return null;
    return { ...row, subject, isKept: await this.runs.haveTag(db, subject.run, keepTag) };
  }

  /** Whether another record keeps it. */
  async isInUse(db: Db, subject: Subject): Promise<boolean> {
    for (const { table, where, bindings } of keepersOf(this.ctx.registered.tables, subject)) {
      const keeper = db(table).whereRaw(where, [...bindings]);
      if (await keeper.first()) return true;
    }
    return false;
  }

  /** Of what was a candidate once. */
  async subjectOf(id: string): Promise<Subject> {
    return toSubject(id, isJob(id) ? await this.runs.ofJob(this.ctx.db, id) : [{ id }]);
  }
}

const isJob = (id: string): boolean => id.startsWith('job_');

function toSubject(id: string, runs: readonly Pick<Row, 'id'>[]): Subject {
  return { run: runs.map((run) => run.id), job: isJob(id) ? [id] : [] };
}
