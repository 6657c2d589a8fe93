import type { Database } from 'better-sqlite3';
import path from 'node:path';
import { openFile } from '../../reading/files.js';
import { Unreadable, type Finding, type FoundRun, type SourcePoint } from '../../reading/found-run.js';
import { Seqs } from '../../reading/seqs.js';
import type { Skips } from '../../reading/skips.js';
import type { LeftOut, Source } from '../../reading/source.js';
import { toText, toTime, type Fields } from '../../reading/values.js';
import { checkpointsOf, toFacts, type MlflowRun } from './run-facts.js';

const FILE = /\.(db|sqlite3?)$/i;
const MAGIC = 'SQLite format 3\0';
/** Tables, not views: a view could compute without end. */
const TABLES = ['experiments', 'runs', 'metrics', 'params', 'tags'];
const POINTS_AT_ONCE = 1000;
/** MLflow stores infinities as the largest doubles. */
const LARGEST = Number.MAX_VALUE;

/** The runs in the SQLite store of MLflow. The database is opened to be read alone. */
export const mlflowDatabase: Source = {
  files: FILE,
  async recognise(folder) {
    const runs: FoundRun[] = [];
    const leftOut: LeftOut[] = [];
    for (const name of folder.files.filter((file) => FILE.test(file))) {
      const file = path.join(folder.path, name);
      if (!(await isDatabase(file))) continue;
      try {
        const listed = await listRuns(file);
        runs.push(...listed.filter(({ isDeleted }) => !isDeleted).map(({ id }) => toFound(file, id)));
        leftOut.push(
          ...listed
            .filter(({ isDeleted }) => isDeleted)
            .map(({ id }) => ({ path: `${file}#${id}`, reason: 'the run is deleted in MLflow' })),
        );
      } catch (error) {
        leftOut.push({
          path: file,
          reason: `the database cannot be read: ${(error as Error).message}`,
          isFailure: true,
        });
      }
    }
    return runs.length + leftOut.length === 0 ? null : { runs, claims: [], leftOut };
  },
};

function toFound(file: string, id: string): FoundRun {
  return { source: 'mlflow', path: `${file}#${id}`, read: (skips) => readRun(file, id, skips) };
}

async function isDatabase(file: string): Promise<boolean> {
  const handle = await openFile(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    return buffer.toString('latin1') === MAGIC;
  } finally {
    await handle.close();
  }
}

/** Loaded when it is needed alone: the library is native code. */
async function open(file: string): Promise<Database> {
  const { default: Sqlite } = await import('better-sqlite3');
  return new Sqlite(file, { readonly: true, fileMustExist: true });
}

/** None of a database that is not MLflow's. */
async function listRuns(file: string): Promise<{ id: string; isDeleted: boolean }[]> {
  const db = await open(file);
  try {
    const tables = db.prepare("select name from sqlite_master where type = 'table'").pluck().all();
    if (!TABLES.every((table) => tables.includes(table))) return [];
    const rows = db
      .prepare('select run_uuid as id, lifecycle_stage as stage from runs order by start_time, run_uuid')
      .all() as { id: unknown; stage: unknown }[];
    return rows.flatMap(({ id, stage }) =>
      typeof id === 'string' ? [{ id, isDeleted: stage === 'deleted' }] : [],
    );
  } finally {
    db.close();
  }
}

async function* readRun(file: string, id: string, skips: Skips): AsyncGenerator<Finding> {
  const db = await open(file);
  try {
    const run = toRun(db, id, file);
    yield { kind: 'facts', facts: toFacts(run, file) };
    yield* readPoints(db, id, skips);
    yield* checkpointsOf(run);
  } catch (error) {
    if ((error as Error).name === 'SqliteError') throw new Unreadable(`${file}: ${(error as Error).message}`);
    throw error;
  } finally {
    db.close();
  }
}

function toRun(db: Database, id: string, file: string): MlflowRun {
  const row = db
    .prepare(
      `select runs.*, experiments.name as experiment from runs
       left join experiments on experiments.experiment_id = runs.experiment_id where run_uuid = ?`,
    )
    .get(id) as Fields | undefined;
  if (row === undefined) throw new Unreadable(`${file} has no run ${id} any more`);
  return {
    id,
    name: toText(row['name']),
    experiment: toText(row['experiment']),
    status: toText(row['status']),
    start: row['start_time'],
    end: row['end_time'],
    artifacts: toText(row['artifact_uri']),
    params: readPairs(db, 'params', id),
    tags: readPairs(db, 'tags', id),
  };
}

function readPairs(db: Database, table: 'params' | 'tags', id: string): Record<string, string> {
  const rows = db
    .prepare(`select key, value from ${table} where run_uuid = ? order by key`)
    .all(id) as Fields[];
  return Object.fromEntries(rows.map(({ key, value }) => [String(key), String(value ?? '')]));
}

/** In the order in which they were stored, which is the order of the rowids. */
function* readPoints(db: Database, id: string, skips: Skips): Generator<Finding> {
  const rows = db
    .prepare('select key, value, timestamp, step, is_nan from metrics where run_uuid = ? order by rowid')
    .iterate(id) as IterableIterator<Fields>;
  const seqs = new Seqs();
  let points: SourcePoint[] = [];
  for (const row of rows) {
    const point = toPoint(row, seqs);
    if (point === null)
      skips.add('a row of metrics that is no point', 'metrics', { metric: String(row['key']) });
    else points.push(point);
    if (points.length < POINTS_AT_ONCE) continue;
    yield { kind: 'points', points };
    points = [];
  }
  if (points.length > 0) yield { kind: 'points', points };
}

function toPoint({ key, value, timestamp, step, is_nan }: Fields, seqs: Seqs): SourcePoint | null {
  if (typeof key !== 'string' || typeof value !== 'number' || typeof step !== 'number') return null;
  const seq = seqs.next(key);
  const number = is_nan ? NaN : Math.abs(value) === LARGEST ? Math.sign(value) * Infinity : value;
  return seq === null ? null : { seq, name: key, step, value: number, ts: toTime(timestamp), place: key };
}
