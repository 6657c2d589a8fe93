import path from 'node:path';
import { readLines, readText, readTextIfThere, type Line } from '../../reading/files.js';
import { entriesOf, type Folder } from '../../reading/folder.js';
import { Unreadable, type Finding, type SourcePoint } from '../../reading/found-run.js';
import { Seqs } from '../../reading/seqs.js';
import type { Skips } from '../../reading/skips.js';
import type { Source } from '../../reading/source.js';
import { parseYaml } from '../../reading/yaml.js';
import { isFields, parsePythonNumber, toText, toTime, type Fields } from '../../reading/values.js';
import { checkpointsOf, toFacts, type MlflowRun } from './run-facts.js';

const META = 'meta.yaml';
const META_BYTES = 1024 * 1024;
const VALUE_BYTES = 64 * 1024;
const LINE_BYTES = 4096;
/** Metrics, params and tags: a name with slashes is a folder for each part. */
const MAX_NAMES = 100_000;
/** As the numbers of mlflow.entities.RunStatus. */
const STATUSES = ['', 'RUNNING', 'SCHEDULED', 'FINISHED', 'FAILED', 'KILLED'];

/** A run in the folder store of MLflow: mlruns/<experiment>/<run>. */
export const mlflowFolder: Source = {
  files: /^meta\.yaml$/,
  async recognise(folder) {
    const meta = folder.files.includes(META) ? await readMeta(folder.path) : null;
    // The folder of an experiment has no run_id, and that of a model has another one.
    const id = meta === null ? undefined : toText(meta['run_id'] ?? meta['run_uuid']);
    if (meta === null || id === undefined || id !== path.basename(folder.path)) return null;
    if (meta['lifecycle_stage'] === 'deleted')
      return {
        runs: [],
        claims: 'all',
        leftOut: [{ path: folder.path, reason: 'the run is deleted in MLflow' }],
      };
    const read = (skips: Skips) => readRun({ folder, meta, id }, skips);
    return { runs: [{ source: 'mlflow', path: folder.path, read }], claims: 'all' };
  },
};

interface Place {
  readonly folder: Folder;
  readonly meta: Fields;
  readonly id: string;
}

/** null when there is no such file. */
async function readMeta(folder: string): Promise<Fields | null> {
  const file = path.join(folder, META);
  const text = await readTextIfThere(file, META_BYTES);
  if (text === null) return null;
  try {
    // Ids of experiments are long numbers, which must stay what they are.
    const meta = await parseYaml(text, { intAsBigInt: true });
    if (isFields(meta)) return meta;
  } catch (error) {
    throw new Unreadable(`${file} is no YAML: ${(error as Error).message}`);
  }
  return null;
}

async function* readRun(place: Place, skips: Skips): AsyncGenerator<Finding> {
  const run = await toRun(place, skips);
  yield { kind: 'facts', facts: toFacts(run, place.folder.path) };
  const seqs = new Seqs();
  const metrics = path.join(place.folder.path, 'metrics');
  for await (const name of namesBelow(metrics))
    for await (const lines of readLines(path.join(metrics, name), LINE_BYTES)) {
      const points = lines.flatMap((line) => toPoint(name, line, seqs, skips));
      if (points.length > 0) yield { kind: 'points', points };
    }
  yield* checkpointsOf(run);
}

async function toRun({ folder, meta, id }: Place, skips: Skips): Promise<MlflowRun> {
  const experiment = await readMeta(path.dirname(folder.path)).catch(() => null);
  const status = meta['status'];
  return {
    id,
    name: toText(meta['run_name']),
    experiment: experiment === null ? undefined : toText(experiment['name']),
    status: typeof status === 'bigint' ? STATUSES[Number(status)] : toText(status),
    start: toMs(meta['start_time']),
    end: toMs(meta['end_time']),
    artifacts: path.join(folder.path, 'artifacts'),
    params: await readValues(path.join(folder.path, 'params'), skips),
    tags: await readValues(path.join(folder.path, 'tags'), skips),
  };
}

const toMs = (value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value);

/** The content of each file below the folder, by its name. */
async function readValues(folder: string, skips: Skips): Promise<Record<string, string>> {
  const values: [string, string][] = [];
  for await (const name of namesBelow(folder)) {
    const file = path.join(folder, name);
    try {
      values.push([name, (await readText(file, VALUE_BYTES)).replace(/\n$/, '')]);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      skips.add(`a value of more than ${VALUE_BYTES} bytes`, file);
    }
  }
  return Object.fromEntries(values);
}

/** The paths of the files below a folder, in the order of their names; none of one that is not there. */
async function* namesBelow(folder: string): AsyncGenerator<string> {
  const names: string[] = [];
  const waiting = [''];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const { name, isFolder } of await entriesOf(path.join(folder, next))) {
      (isFolder ? waiting : names).push(path.join(next, name));
      if (names.length + waiting.length > MAX_NAMES)
        throw new Unreadable(`${folder} has more than ${MAX_NAMES} entries`);
    }
  }
  yield* names.sort();
}

/** A line is `<ms> <value> <step>`, and may have further words. */
function toPoint(name: string, { text, number }: Line, seqs: Seqs, skips: Skips): SourcePoint[] {
  const place = `metrics/${name}, line ${number}`;
  const [ms, value, step = '0'] = text?.trim().split(' ') ?? [];
  const [ts, parsed] = [toTime(Number(ms)), parsePythonNumber(value ?? '')];
  const seq = seqs.next(name);
  if (ts !== undefined && parsed !== null && seq !== null && /^-?\d+$/.test(step))
    return [{ seq, name, step: Number(step), value: parsed, ts, place }];
  skips.add('a line that is no point', place, { metric: name });
  return [];
}
