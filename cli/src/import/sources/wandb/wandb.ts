import path from 'node:path';
import { readTextIfThere } from '../../reading/files.js';
import type { Finding, RunFacts, SourcePoint } from '../../reading/found-run.js';
import { Unreadable } from '../../reading/found-run.js';
import { Seqs } from '../../reading/seqs.js';
import type { Skips } from '../../reading/skips.js';
import type { Source } from '../../reading/source.js';
import { parseYaml } from '../../reading/yaml.js';
import { isFields, parsePythonJson, toNumber, toTime } from '../../reading/values.js';
import { readLog } from './log.js';
import {
  parseRecord,
  pathOf,
  type ConfigChange,
  type Item,
  type RunRecord,
  type WandbRecord,
} from './records.js';

const FILE = /^run-.+\.wandb$/;
const FILES_BYTES = 4 * 1024 * 1024;
/** Config and summary are held in memory. */
const MAX_KEYS = 5_000;
const VALUE_CHARACTERS = 16 * 1024;
const MEDIA = '/_type';
const MAX_DEPTH = 10;
/** What wandb adds by itself: _step, _runtime, _timestamp, _wandb. */
const isInternal = (name: string): boolean => name.startsWith('_');

/** A run folder of wandb, as `wandb offline` writes it. */
export const wandb: Source = {
  files: FILE,
  recognise({ path: folder, files }) {
    const found = files.filter((name) => FILE.test(name)).map((name) => path.join(folder, name));
    if (found.length === 0) return Promise.resolve(null);
    const runs = found.map((file) => ({
      source: 'wandb' as const,
      path: file,
      read: (skips: Skips) => readRun(file, skips),
    }));
    return Promise.resolve({ runs, claims: 'all' as const });
  },
};

async function* readRun(file: string, skips: Skips): AsyncGenerator<Finding> {
  const reading = new RunReading(file, skips);
  let number = 0;
  for await (const entry of readLog(file)) {
    const place = `${path.basename(file)}, record ${++number}`;
    const record = 'bytes' in entry ? parseRecord(entry.bytes) : null;
    if (record === null) skips.add('lost' in entry ? entry.lost : 'a corrupt record', place);
    else yield* reading.take(record, place);
  }
  yield* reading.end();
}

/** A run as far as it is read. */
class RunReading {
  readonly #seqs = new Seqs();
  readonly #config = new Map<string, unknown>();
  readonly #summary = new Map<string, unknown>();
  #run: RunRecord | null = null;
  #exit: WandbRecord['exit'];

  constructor(
    private readonly file: string,
    private readonly skips: Skips,
  ) {}

  *take({ run, config, summary, history, exit }: WandbRecord, place: string): Generator<Finding> {
    if (run) {
      this.#run = run;
      this.#change(run.config);
      yield this.#facts();
    }
    this.#change(config);
    for (const item of summary?.update ?? []) this.#keep(this.#summary, item);
    if (exit) this.#exit = exit;
    if (history) yield* this.#toPoints(history, place);
  }

  /** With what the training said on the way, and how it ended. */
  async *end(): AsyncGenerator<Finding> {
    if (this.#run === null) throw new Unreadable(`${this.file} does not say which run it is of`);
    if (this.#config.size === 0)
      for (const [key, value] of await this.#readConfigFile()) this.#config.set(key, value);
    yield this.#facts();
  }

  *#toPoints(history: NonNullable<WandbRecord['history']>, place: string): Generator<Finding> {
    if (this.#run === null) return this.skips.add('values before the record of the run', place);
    const values = new Map(history.item.map((item) => [pathOf(item).join('/'), parseValue(item.value_json)]));
    const step = history.step?.num ?? Number(values.get('_step'));
    const ts = toTime(Number(values.get('_timestamp')) * 1000);
    const points: SourcePoint[] = [];
    for (const metric of mediaIn(values))
      this.skips.add('media, such as a histogram or an image', place, { metric });
    const leaves = toLeaves(values);
    for (const [name, leaf] of leaves) {
      if (isInternal(name)) continue;
      const value = toNumber(leaf);
      const seq = value === null ? null : this.#seqs.next(path.basename(path.dirname(this.file)));
      if (value === null || seq === null)
        this.skips.add('a value that is no number', place, { metric: name });
      else points.push({ seq, name, step, value, ts, place });
    }
    if (points.length > 0) yield { kind: 'points', points };
  }

  #facts(): Finding {
    const run = this.#run as RunRecord;
    const { start_time } = run;
    const facts: RunFacts = {
      key: [run.entity, run.project, run.run_id].join('/'),
      name: run.display_name || run.run_id,
      project: run.project || undefined,
      experiment: run.run_group || undefined,
      config: Object.fromEntries(this.#config),
      tags: run.tags,
      notes: run.notes || undefined,
      origin: {
        folder: path.dirname(this.file),
        run_id: run.run_id,
        host: run.host || undefined,
        job_type: run.job_type || undefined,
        exit_code: this.#exit?.exit_code,
        summary: Object.fromEntries(toLeaves(this.#summary).filter(([, value]) => isPlain(value))),
      },
      started_at: start_time && toTime(start_time.seconds * 1000 + start_time.nanos / 1e6),
      ended: this.#exit && (this.#exit.exit_code === 0 ? 'SUCCEEDED' : 'FAILED'),
      mayBeEmpty: true,
    };
    return { kind: 'facts', facts };
  }

  #change(change: ConfigChange | undefined): void {
    for (const item of change?.update ?? []) this.#keep(this.#config, item);
    for (const item of change?.remove ?? []) this.#config.delete(pathOf(item).join('/'));
  }

  #keep(values: Map<string, unknown>, item: Item): void {
    const name = pathOf(item).join('/');
    if (isInternal(name)) return;
    const isFull = values.size >= MAX_KEYS && !values.has(name);
    if (isFull || item.value_json.length > VALUE_CHARACTERS)
      return this.skips.add('a value of config or summary that is too long, or one too many', name);
    values.set(name, parseValue(item.value_json));
  }

  /** `key: {value: ...}`, which wandb writes when the run ends online. */
  async #readConfigFile(): Promise<[string, unknown][]> {
    const text = await readTextIfThere(
      path.join(path.dirname(this.file), 'files', 'config.yaml'),
      FILES_BYTES,
    );
    const config = text === null ? null : await parseYaml(text);
    if (!isFields(config)) return [];
    return Object.entries(config).flatMap(([key, entry]) =>
      isFields(entry) && !isInternal(key) ? [[key, entry['value']] as [string, unknown]] : [],
    );
  }
}

/** The names of what has a _type: media, of which nothing is a metric. */
function mediaIn(values: ReadonlyMap<string, unknown>): string[] {
  return [...values].flatMap(([name, value]) => {
    if (name.endsWith(MEDIA)) return [name.slice(0, -MEDIA.length)];
    return isFields(value) && '_type' in value ? [name] : [];
  });
}

/** Nested values under names with slashes, without media. */
function toLeaves(values: ReadonlyMap<string, unknown>): [string, unknown][] {
  const media = mediaIn(values);
  return [...values]
    .filter(([name]) => !media.some((medium) => name === medium || name.startsWith(`${medium}/`)))
    .flatMap(([name, value]) => flatten(name, value, MAX_DEPTH));
}

const isPlain = (value: unknown): boolean => typeof value !== 'object' || value === null;

function flatten(name: string, value: unknown, depth: number): [string, unknown][] {
  if (!isFields(value) || depth === 0 || '_type' in value) return [[name, value]];
  return Object.entries(value).flatMap(([key, inner]) => flatten(`${name}/${key}`, inner, depth - 1));
}

function parseValue(json: string): unknown {
  try {
    return parsePythonJson(json);
  } catch {
    return json;
  }
}
