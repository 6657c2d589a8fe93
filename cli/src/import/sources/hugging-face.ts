import os from 'node:os';
import path from 'node:path';
import { toCheckpoint } from '../reading/checkpoint-files.js';
import { readText, writtenAt } from '../reading/files.js';
import { readFolder, toRunName, type Folder } from '../reading/folder.js';
import { Unreadable, type Finding, type RunFacts, type SourcePoint } from '../reading/found-run.js';
import { Seqs } from '../reading/seqs.js';
import type { Skips } from '../reading/skips.js';
import type { Source } from '../reading/source.js';
import { isFields, parseObject, toNumber, toText, type Fields } from '../reading/values.js';

const STATE = 'trainer_state.json';
/** The trainer holds it in memory as a whole, too. */
const STATE_BYTES = 256 * 1024 * 1024;
const CHECKPOINT = /^checkpoint-(\d{1,15})$/;
/** Where the trainer writes the event files of the same training. */
const EVENT_FILES = 'runs';

/** The output folder of a Hugging Face Trainer: its newest trainer_state.json, and its checkpoints. */
export const huggingFace: Source = {
  files: /^trainer_state\.json$/,
  async recognise(folder) {
    const checkpoints = folder.folders
      .filter((name) => CHECKPOINT.test(name))
      .sort((a, b) => stepOf(b) - stepOf(a));
    const state = await findState(folder, checkpoints);
    if (state === null) return null;
    const output = { folder, state, checkpoints: checkpoints.reverse() };
    const hasEventFiles = folder.folders.includes(EVENT_FILES);
    const events = path.join(folder.path, EVENT_FILES);
    return {
      runs: [{ source: 'hugging face', path: state, read: (skips) => readOutput(output, skips) }],
      claims: [...checkpoints, EVENT_FILES],
      leftOut: hasEventFiles
        ? [
            {
              path: events,
              reason: `the same training is in ${STATE}; svc import ${events} takes this in its place`,
            },
          ]
        : [],
    };
  },
};

interface Output {
  readonly folder: Folder;
  readonly state: string;
  readonly checkpoints: readonly string[];
}

const stepOf = (checkpoint: string): number => Number(CHECKPOINT.exec(checkpoint)?.[1] ?? 0);

async function findState(folder: Folder, checkpoints: readonly string[]): Promise<string | null> {
  if (folder.files.includes(STATE)) return path.join(folder.path, STATE);
  for (const name of checkpoints) {
    const { files } = await readFolder(folder.root, path.join(folder.path, name), (file) => file === STATE);
    if (files.length > 0) return path.join(folder.path, name, STATE);
  }
  return null;
}

async function* readOutput(output: Output, skips: Skips): AsyncGenerator<Finding> {
  const state = parseObject(await readText(output.state, STATE_BYTES), output.state);
  const history = state['log_history'];
  if (!Array.isArray(history))
    throw new Unreadable(`${output.state} has no log_history: it is of no Trainer`);
  const at = await writtenAt(output.state);
  yield { kind: 'facts', facts: toFacts(output, state, history, at) };
  const seqs = new Seqs();
  for (const [index, entry] of history.entries()) {
    const points = toPoints(entry, { place: `entry ${index} of log_history`, at, seqs, skips });
    if (points.length > 0) yield { kind: 'points', points };
  }
  const best = path.basename(toText(state['best_model_checkpoint']) ?? '');
  for (const name of output.checkpoints) {
    const checkpoint = await toCheckpoint(path.join(output.folder.path, name), true);
    const metadata = { best_model: true, best_metric: state['best_metric'] };
    yield { kind: 'checkpoint', body: { ...checkpoint, ...(name === best && { metadata }) } };
  }
}

/** The file holds no times: all points have the time at which it was written, and the run began before by what it says it took. */
function toFacts(
  { folder, state: file }: Output,
  state: Fields,
  history: readonly unknown[],
  at: number,
): RunFacts {
  const isCheckpoint = CHECKPOINT.test(path.basename(folder.path));
  const home = isCheckpoint ? path.dirname(folder.path) : folder.path;
  const seconds = history
    .map((entry) => (isFields(entry) ? entry['train_runtime'] : undefined))
    .findLast(isSeconds);
  const { max_steps, num_train_epochs, train_batch_size, best_metric, best_model_checkpoint } = state;
  return {
    key: JSON.stringify([os.hostname(), home, history[0]]),
    name: toRunName(home),
    config: { num_train_epochs, train_batch_size },
    // They are null where the training compares no checkpoints.
    origin: {
      file,
      best_metric: best_metric ?? undefined,
      best_model_checkpoint: best_model_checkpoint ?? undefined,
    },
    max_steps: typeof max_steps === 'number' && max_steps > 0 ? max_steps : undefined,
    started_at: at - Math.floor((seconds ?? 0) * 1000),
    finished_at: at,
  };
}

const isSeconds = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value < 1e9;

interface Reading {
  readonly place: string;
  readonly at: number;
  readonly seqs: Seqs;
  readonly skips: Skips;
}

function toPoints(entry: unknown, { place, at, seqs, skips }: Reading): SourcePoint[] {
  if (!isFields(entry) || typeof entry['step'] !== 'number') {
    skips.add('an entry without a step', place);
    return [];
  }
  const { step, epoch, ...metrics } = entry;
  const known = typeof epoch === 'number' ? { epoch } : {};
  return Object.entries(metrics).flatMap(([key, text]) => {
    const value = toNumber(text);
    const name = toName(key);
    const seq = seqs.next(name);
    if (value !== null && seq !== null)
      return [{ seq, name, step: step as number, value, ts: at, ...known, place }];
    skips.add('a value that is no number', place, { metric: name });
    return [];
  });
}

/** As the trainer's own loggers call them: `loss` is train/loss, `eval_loss` is eval/loss. */
function toName(key: string): string {
  const [, split, rest] = /^(eval|test)_(.+)$/.exec(key) ?? [];
  return split === undefined ? `train/${key}` : `${split}/${rest}`;
}
