import { maskSecrets } from '@svc/contract';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { findCheckpoints } from '../../reading/checkpoint-files.js';
import type { Finding, RunFacts, TrainingEnd } from '../../reading/found-run.js';
import { toTime } from '../../reading/values.js';

/** A run of MLflow, from whichever store. */
export interface MlflowRun {
  readonly id: string;
  readonly name: string | undefined;
  readonly experiment: string | undefined;
  /** RUNNING, FINISHED, FAILED, KILLED or SCHEDULED. */
  readonly status: string | undefined;
  /** In ms. */
  readonly start: unknown;
  readonly end: unknown;
  readonly artifacts: string | undefined;
  readonly params: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

const ENDS: Readonly<Record<string, TrainingEnd>> = {
  FINISHED: 'SUCCEEDED',
  FAILED: 'FAILED',
  KILLED: 'CANCELLED',
};
const DEFAULT_EXPERIMENT = 'Default';
const TAG_CHARACTERS = 100;
/** The tags that MLflow itself sets. */
const SYSTEM = 'mlflow.';

export function toFacts(run: MlflowRun, store: string): RunFacts {
  const tags = Object.entries(run.tags);
  const own = tags.filter(([key]) => !key.startsWith(SYSTEM));
  // Tags of a run are free words, in which the server looks for no secrets.
  const masked = Object.entries(maskSecrets(Object.fromEntries(own)));
  const texts = masked.map(([key, value]) => (value === '' ? key : `${key}=${String(value)}`));
  return {
    key: run.id,
    name: run.name ?? run.tags['mlflow.runName'] ?? run.id,
    experiment: run.experiment === DEFAULT_EXPERIMENT ? undefined : run.experiment,
    config: Object.fromEntries(Object.entries(run.params).map(([key, text]) => [key, toValue(text)])),
    tags: texts.filter((text) => text.length <= TAG_CHARACTERS),
    notes: run.tags['mlflow.note.content'],
    origin: {
      store,
      run_id: run.id,
      status: run.status,
      artifacts: run.artifacts,
      tags: Object.fromEntries(tags.filter(([key]) => key !== 'mlflow.note.content')),
    },
    started_at: toTime(run.start),
    finished_at: toTime(run.end),
    ended: ENDS[run.status ?? ''],
    mayBeEmpty: true,
  };
}

/** MLflow keeps texts alone: a number or a boolean of Python is one again where nothing of the text is lost. */
function toValue(text: string): unknown {
  if (text === 'True' || text === 'False') return text === 'True';
  return text !== '' && String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Those of the artifacts that are checkpoints, where they lie on this host. */
export async function* checkpointsOf({ artifacts }: MlflowRun): AsyncGenerator<Finding> {
  const folder = artifacts === undefined ? null : toLocalPath(artifacts);
  if (folder === null) return;
  for (const body of await findCheckpoints(folder)) yield { kind: 'checkpoint', body };
}

/** null for a place that is on no disk of this host. */
function toLocalPath(uri: string): string | null {
  try {
    if (uri.startsWith('file:')) return fileURLToPath(uri);
  } catch {
    return null;
  }
  return path.isAbsolute(uri) ? uri : null;
}
