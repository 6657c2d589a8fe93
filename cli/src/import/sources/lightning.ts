import os from 'node:os';
import path from 'node:path';
import { writtenAt } from '../reading/files.js';
import { toRunName, type Folder } from '../reading/folder.js';
import type { Finding, SourcePoint } from '../reading/found-run.js';
import { Seqs } from '../reading/seqs.js';
import type { Skips } from '../reading/skips.js';
import type { Source } from '../reading/source.js';
import { parsePythonNumber } from '../reading/values.js';
import { checkpointsBeside, METRICS, readHparams, readRows, whyForeign } from './lightning-files.js';

/** The folder that the CSVLogger of Lightning writes: metrics.csv, hparams.yaml and checkpoints. */
export const lightning: Source = {
  files: /^(metrics\.csv|hparams\.yaml)$/,
  async recognise(folder) {
    if (!folder.files.includes(METRICS)) return null;
    const file = path.join(folder.path, METRICS);
    const reason = await whyForeign(folder);
    if (reason !== null) return { runs: [], claims: [], leftOut: [{ path: file, reason }] };
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
      columns = toColumns(row);
      continue;
    }
    if (number === 2) {
      const key = JSON.stringify([os.hostname(), folder.path, toCells(columns, row)]);
      const started_at = hparams.writtenAt;
      yield {
        kind: 'facts',
        facts: {
          key,
          name: toRunName(folder.path),
          config: hparams.config,
          origin: { file },
          started_at,
          finished_at: at,
        },
      };
    }
    yield { kind: 'points', points: toPoints(columns, row, { place: `row ${number}`, at, seqs, skips }) };
  }
  if (number > 1) yield* checkpointsBeside(folder);
}

/** The file has no times: each row has the time at which the file was written. */
interface Reading {
  readonly place: string;
  readonly at: number;
  readonly seqs: Seqs;
  readonly skips: Skips;
}

function toColumns(names: readonly string[]): Columns {
  return { names, step: names.indexOf('step'), epoch: names.indexOf('epoch') };
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
    skips.add('a value that is no number', place, { metric: name });
    return [];
  });
}
