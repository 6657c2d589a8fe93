import { parseCommandLine, toCommandLine } from '@svc/client';
import type { EvaluationSubmit } from '@svc/contract';
import type { Job } from './jobs.js';

/** What people type to evaluate a checkpoint. Empty texts are left out. */
export interface EvaluationDraft {
  readonly command: string;
  readonly suite: string;
  readonly dataset: string;
  readonly dataset_version: string;
  readonly working_dir: string;
  readonly gpus: string;
  /** Lines of NAME=VALUE. */
  readonly env: string;
}

export const NO_EVALUATION: EvaluationDraft = {
  command: '',
  suite: '',
  dataset: '',
  dataset_version: '',
  working_dir: '',
  gpus: '',
  env: '',
};

/** As an evaluation before it: the values of its environment are not taken over, as they may be secret. */
export function draftLike(
  { command, working_dir: workingDir, resources }: Job,
  labels: Pick<EvaluationDraft, 'suite' | 'dataset' | 'dataset_version'>,
): EvaluationDraft {
  return {
    ...NO_EVALUATION,
    ...labels,
    command: toCommandLine(command),
    working_dir: workingDir ?? '',
    gpus: String(resources.gpu),
  };
}

/** The request, or what is wrong with what was typed. */
export function toEvaluation(draft: EvaluationDraft): { body: EvaluationSubmit } | { flaw: string } {
  const command = parseCommandLine(draft.command);
  if ('flaw' in command) return { flaw: `The command cannot be read: ${command.flaw}.` };
  if (command.words.length === 0) return { flaw: 'Give the command that evaluates the checkpoint.' };
  const env = toEnv(draft.env);
  if ('flaw' in env) return env;
  const { suite, dataset, dataset_version, working_dir, gpus } = draft;
  const texts = Object.entries({ suite, dataset, dataset_version, working_dir })
    .map(([name, text]) => [name, text.trim()] as const)
    .filter(([, text]) => text !== '');
  const body: EvaluationSubmit = {
    command: command.words,
    ...Object.fromEntries(texts),
    ...(gpus.trim() !== '' && { resources: { gpu: Number(gpus) } }),
    ...(Object.keys(env.env).length > 0 && { env: env.env }),
  };
  return { body };
}

function toEnv(text: string): { env: Record<string, string> } | { flaw: string } {
  const env: Record<string, string> = {};
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const [, name, value] = /^\s*([A-Za-z_]\w*)=(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined)
      return { flaw: `“${line.trim().slice(0, 40)}” is no variable: write NAME=VALUE, one on each line.` };
    env[name] = value;
  }
  return { env };
}
