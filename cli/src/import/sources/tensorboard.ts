import {
  isEventFileName,
  isHParamsFolderName,
  readEventFile,
  type Item,
  type Scalar,
} from '@svc/plugin-event-files/reader';
import { createHash } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { openFile } from '../reading/files.js';
import { readFolder, toRunName, type Folder } from '../reading/folder.js';
import type { Finding, RunFacts, SourcePoint } from '../reading/found-run.js';
import { Seqs } from '../reading/seqs.js';
import type { Skips } from '../reading/skips.js';
import type { Source } from '../reading/source.js';
import { toTime } from '../reading/values.js';
import { checkpointsBeside, METRICS, readHparams, whyForeign } from './lightning-files.js';

const MAX_RESTARTS = 100_000;
const FIRST_BYTES = 4096;
/** Around the data of a record: its length and two checksums. */
const RECORD_FRAME_BYTES = 16;

/** The event files of one folder are one run, as in TensorBoard. */
export const tensorboard: Source = {
  files: /tfevents|^(hparams\.yaml|metrics\.csv)$/,
  async recognise(folder) {
    const files = folder.files.filter(isEventFileName);
    if (files.length === 0) return null;
    if (await hasLogOfLightning(folder)) {
      const reason = `the same training is in ${METRICS}`;
      const leftOut = files.map((name) => ({ path: path.join(folder.path, name), reason }));
      return { runs: [], claims: [], leftOut };
    }
    const times = folder.folders.filter(isHParamsFolderName);
    const read = (skips: Skips) => readFiles(folder, files, times, skips);
    return {
      runs: [{ source: 'tensorboard', path: folder.path, read }],
      claims: ['checkpoints', ...times],
    };
  },
};

/** A metrics.csv of something else says nothing about the event files beside it. */
async function hasLogOfLightning(folder: Folder): Promise<boolean> {
  return folder.files.includes(METRICS) && (await whyForeign(folder).catch(String)) === null;
}

async function* readFiles(
  folder: Folder,
  own: readonly string[],
  times: readonly string[],
  skips: Skips,
): AsyncGenerator<Finding> {
  const files = [...own, ...(await filesIn(folder, times))];
  let { config } = await readHparams(folder, skips);
  const [first] = files as [string];
  // Must hold: other content under the same name is another run.
  const begin = await hashOfFirstRecord(path.join(folder.path, first));
  const key = JSON.stringify([os.hostname(), folder.path, first, begin]);
  const facts: RunFacts = { key, name: toRunName(folder.path), config, origin: { folder: folder.path } };
  yield { kind: 'facts', facts };
  const paths = files.map((name) => path.join(folder.path, name));
  const scalars = new ScalarReader(await findRestarts(paths), skips);
  for (const name of files)
    for await (const { items, corrupt } of readEventFile(path.join(folder.path, name))) {
      if (corrupt > 0) skips.add('a corrupt record', name, { count: corrupt });
      const points = items.flatMap((item) => scalars.read(item, name));
      if (points.length > 0) yield { kind: 'points', points };
      for (const item of items)
        if (item.kind === 'hparams') {
          config = { ...config, ...item.values };
          yield { kind: 'facts', facts: { ...facts, config } };
        }
    }
  yield* checkpointsBeside(folder);
}

/** The first record has the time at which its file was made. Of a longer one its beginning is hashed. */
async function hashOfFirstRecord(place: string): Promise<string> {
  const file = await openFile(place);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_BYTES), 0, FIRST_BYTES, 0);
    const size = bytesRead < 8 ? bytesRead : Number(buffer.readBigUInt64LE()) + RECORD_FRAME_BYTES;
    return createHash('sha256')
      .update(buffer.subarray(0, Math.min(size, bytesRead)))
      .digest('hex');
  } finally {
    await file.close();
  }
}

/** The event files in these folders of it, by their way from it. */
async function filesIn(folder: Folder, names: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const name of names) {
    const { files } = await readFolder(folder.root, path.join(folder.path, name), isEventFileName);
    found.push(...files.map((file) => path.join(name, file)));
  }
  return found;
}

/** The steps at which the training began again, in the order of the files. */
async function findRestarts(paths: readonly string[]): Promise<number[]> {
  const steps: number[] = [];
  for (const place of paths)
    for await (const { items } of readEventFile(place))
      for (const item of items)
        if (item.kind === 'restart' && steps.length < MAX_RESTARTS) steps.push(item.step);
  return steps;
}

/** Leaves out what TensorBoard forgets: the points before a restart that have its step, or a later one. */
class ScalarReader {
  readonly #seqs = new Seqs();
  /** Of each restart: the lowest step of it and of those behind it. */
  readonly #lowest: readonly number[];
  #passed = 0;

  constructor(
    restarts: readonly number[],
    private readonly skips: Skips,
  ) {
    let lowest = Infinity;
    this.#lowest = restarts
      .map((_step, index) => (lowest = Math.min(lowest, restarts.at(-1 - index) as number)))
      .reverse();
  }

  read(item: Item, file: string): SourcePoint[] {
    if (item.kind === 'restart') this.#passed += 1;
    return item.kind === 'scalar' ? this.#toPoint(item, file) : [];
  }

  #toPoint({ tag, step, value, wallTimeMs }: Scalar, file: string): SourcePoint[] {
    const seq = this.#seqs.next(file);
    const isForgotten = step >= (this.#lowest[this.#passed] ?? Infinity);
    const metric = tag;
    if (isForgotten) this.skips.add('a point that a restart of the training replaces', file, { metric });
    else if (seq === null) this.skips.add('a point behind 134 million others of its file', file, { metric });
    else return [{ seq, name: tag, step, value, ts: toTime(wallTimeMs), place: `${file}, ${tag}` }];
    return [];
  }
}
