import os from 'node:os';
import path from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { readWholeLines, writtenAt } from '../reading/files.js';
import { toRunName, type Folder } from '../reading/folder.js';
import { Unreadable, type Finding, type SourcePoint } from '../reading/found-run.js';
import { Seqs } from '../reading/seqs.js';
import type { Skips } from '../reading/skips.js';
import type { Source } from '../reading/source.js';
import { parsePythonNumber } from '../reading/values.js';
import { checkpointsBeside, readHparams } from './lightning-files.js';

const METRICS = 'metrics.csv';
const ROW_BYTES = 1024 * 1024;

/** The folder that the CSVLogger of Lightning writes: metrics.csv, hparams.yaml and checkpoints. */
export const lightning: Source = {
  files: /^(metrics\.csv|hparams\.yaml)$/,
  async recognise(folder) {
    if (!folder.files.includes(METRICS)) return null;
    const file = path.join(folder.path, METRICS);
    return {
      runs: [{ source: 'lightning', path: file, read: (skips) => readLogs(folder, file, skips) }],
      claims: ['checkpoints'],
    };
  },
};

interface Columns {
  readonly names: readonly string[];
  readonly step: number;
  readonly epoch: number;
}

async function* readLogs(folder: Folder, file: string, skips: Skips): AsyncGenerator<Finding> {
  const at = await writtenAt(file);
  const hparams = await readHparams(folder, skips);
  const seqs = new Seqs();
  let columns: Columns | null = null;
  let number = 0;
  for await (const row of readRows(file)) {
    number += 1;
    if (columns === null) {
      columns = toColumns(row, file);
      continue;
    }
    if (number === 2) {
      const key = JSON.stringify([os.hostname(), folder.path, toCells(columns, row)]);
      const started_at = hparams.writtenAt;
      yield {
        kind: 'facts',
        facts: {
          key,
          name: toRunName(folder),
          config: hparams.config,
          origin: { file },
          started_at,
          finished_at: at,
        },
      };
    }
    yield { kind: 'points', points: toPoints(columns, row, { place: `row ${number}`, at, seqs, skips }) };
  }
  if (number < 2) throw new Unreadable(`${file} has no rows`);
  yield* checkpointsBeside(folder);
}

/** The file has no times: each row has the time at which the file was written. */
interface Reading {
  readonly place: string;
  readonly at: number;
  readonly seqs: Seqs;
  readonly skips: Skips;
}

async function* readRows(file: string): AsyncGenerator<string[]> {
  const options = { bom: true, relax_column_count: true, skip_empty_lines: true, max_record_size: ROW_BYTES };
  const { CsvError, parse } = await import('csv-parse');
  // An error of the file ends the parser with it.
  const parser = pipeline(Readable.from(readWholeLines(file)), parse(options), () => undefined);
  try {
    for await (const row of parser) yield row as string[];
  } catch (error) {
    if (error instanceof CsvError) throw new Unreadable(`${file}: ${error.message}`);
    throw error;
  }
}

function toColumns(names: readonly string[], file: string): Columns {
  const step = names.indexOf('step');
  if (step === -1) throw new Unreadable(`${file} has no column "step": it is of no logger of Lightning`);
  return { names, step, epoch: names.indexOf('epoch') };
}

/** What of a row stays when the logger writes the file again with further columns. */
function toCells({ names }: Columns, row: readonly string[]): unknown {
  return names
    .map((name, index) => [name, row[index] ?? ''])
    .filter(([, cell]) => cell !== '')
    .sort();
}

function toPoints(columns: Columns, row: readonly string[], reading: Reading): SourcePoint[] {
  const { seqs, skips, place, at: ts } = reading;
  const step = parsePythonNumber(row[columns.step] ?? '');
  if (step === null) {
    skips.add('a row without a step', place);
    return [];
  }
  const epoch = columns.epoch === -1 ? null : parsePythonNumber(row[columns.epoch] ?? '');
  const known = epoch !== null && Number.isFinite(epoch) ? { epoch } : {};
  return columns.names.flatMap((name, index) => {
    const cell = row[index] ?? '';
    if (cell === '' || index === columns.step || index === columns.epoch) return [];
    const seq = seqs.next(name);
    const value = parsePythonNumber(cell);
    if (value !== null && seq !== null) return [{ seq, name, step, value, ts, ...known, place }];
    skips.add('a value that is no number', `${name}, ${place}`);
    return [];
  });
}
