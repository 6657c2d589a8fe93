import { createHash } from 'node:crypto';
import path from 'node:path';
import { readLines, readText, type Line } from '../reading/files.js';
import type { Folder } from '../reading/folder.js';
import type {
  CheckpointBody,
  EventBody,
  Finding,
  MetricBody,
  RunFacts,
  SourcePoint,
  TrainingEnd,
} from '../reading/found-run.js';
import type { Skips } from '../reading/skips.js';
import type { Source } from '../reading/source.js';
import { isFields, parseObject, toNumber, toText, toTime, type Fields } from '../reading/values.js';

const ENDS: readonly TrainingEnd[] = ['SUCCEEDED', 'FAILED', 'CANCELLED'];
const FORMAT = 'svc-offline/1';
const METADATA = 'metadata.json';
const METADATA_BYTES = 8 * 1024 * 1024;
/** The largest line is an event with 64 KiB of data, or a checkpoint with as much metadata. */
const LINE_BYTES = 256 * 1024;

/** The folder that an SDK of svc writes when it has no server. */
export const svcOffline: Source = {
  files: /^(metadata\.json|(points|events|checkpoints|metrics)\.jsonl)$/,
  async recognise(folder) {
    if (!folder.files.includes(METADATA)) return null;
    const text = await readText(path.join(folder.path, METADATA), METADATA_BYTES);
    if (!text.includes(FORMAT)) return null;
    const metadata = parseObject(text, path.join(folder.path, METADATA));
    if (metadata['format'] !== FORMAT) return null;
    const read = (skips: Skips) => readOfflineRun(folder, metadata, skips);
    return { runs: [{ source: 'svc offline', path: folder.path, read }], claims: 'all' };
  },
};

async function* readOfflineRun(folder: Folder, metadata: Fields, skips: Skips): AsyncGenerator<Finding> {
  const facts = toFacts(folder, metadata);
  yield { kind: 'facts', facts };
  const place = (file: string) => path.join(folder.path, file);
  for (const file of folder.files.filter((name) => name.endsWith('.jsonl')))
    for await (const lines of readLines(place(file), LINE_BYTES))
      yield* toFindings({ file, key: facts.key, skips }, lines);
}

function toFacts({ path: folder }: Folder, metadata: Fields): RunFacts {
  const { config, environment, tags, max_steps, run_id, created_at } = metadata;
  const label = path.basename(folder);
  return {
    key: `${label} ${String(created_at)}`,
    name: toText(metadata['name']) ?? label,
    project: toText(metadata['project']),
    experiment: toText(metadata['experiment']),
    config: isFields(config) ? config : undefined,
    environment: isFields(environment) ? environment : undefined,
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : undefined,
    max_steps: typeof max_steps === 'number' ? max_steps : undefined,
    started_at: toTime(created_at),
    finished_at: toTime(metadata['finished_at']),
    ended: ENDS.find((end) => end === metadata['status']),
    mayBeEmpty: true,
    begun: toText(run_id),
  };
}

interface Reading {
  readonly file: string;
  /** Of the run. */
  readonly key: string;
  readonly skips: Skips;
}

function* toFindings({ file, key, skips }: Reading, lines: readonly Line[]): Generator<Finding> {
  const points: SourcePoint[] = [];
  for (const line of lines) {
    const place = `${file}, line ${line.number}`;
    const fields = toRecord(line);
    if (fields === null) skips.add('a line that is no JSON object, or is too long', place);
    else if (file !== 'points.jsonl') yield* toRecordFinding(file, fields, `${key} ${line.number - 1}`);
    else {
      const point = toPoint(fields, place);
      if (point) points.push(point);
      else skips.add('a line that is no point', place, { metric: toText(fields['name']) });
    }
  }
  if (points.length > 0) yield { kind: 'points', points };
}

function toRecord({ text }: Line): Fields | null {
  try {
    const value: unknown = text === null ? null : JSON.parse(text);
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

function toPoint({ seq, name, step, value, ts, epoch }: Fields, place: string): SourcePoint | null {
  const number = toNumber(value);
  if (typeof seq !== 'number' || typeof name !== 'string' || typeof step !== 'number' || number === null)
    return null;
  return {
    seq,
    name,
    step,
    value: number,
    ts: toTime(ts),
    ...(typeof epoch === 'number' && { epoch }),
    place,
  };
}

function* toRecordFinding(file: string, fields: Fields, place: string): Generator<Finding> {
  const { ts: _ts, name, ...body } = fields;
  if (file === 'checkpoints.jsonl') yield { kind: 'checkpoint', body: body as CheckpointBody };
  else if (file === 'events.jsonl') yield { kind: 'event', key: toEventKey(place), body: body as EventBody };
  else if (typeof name === 'string') yield { kind: 'metric', name, body: body as MetricBody };
}

/** The SDK, when it brings in such a folder by itself, gives the event the same key. */
function toEventKey(place: string): string {
  return createHash('sha256').update(place).digest('hex').slice(0, 32);
}
