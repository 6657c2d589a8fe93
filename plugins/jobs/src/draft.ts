import { toId, type JobDraft, type JobSubmit, type Resources, type RunnerServer } from '@svc/contract';
import { compileCheck, type Check, type Collected, type Issues } from '@svc/kernel';

const MAX_NAME_LENGTH = 200;
const DEFAULT_GPUS = 1;

/** Fills in the defaults of a submitted job and adds what is wrong with it to `issues`. */
export function toDraft(body: JobSubmit, runners: Collected<RunnerServer>, issues: Issues): JobDraft {
  const runner = body.runner ?? 'process';
  const runnerOptions: Record<string, unknown> = toRunnerOptions(body, runners.get(runner), issues);
  if (body.snapshot !== undefined && body.working_dir !== undefined)
    issues.add('snapshot', 'is the working directory, as working_dir is: leave one of them out');
  if (body.command[0]?.trim() === '') issues.add('command[0]', 'must name a program');
  if (!runners.has(runner))
    issues.add('runner', `there is no runner "${runner}"; there ${nameAll([...runners.keys()])}`);
  return {
    name: body.name ?? toName(body.command),
    type: body.type ?? 'TRAIN',
    command: body.command,
    working_dir: body.working_dir ?? null,
    snapshot: body.snapshot ?? null,
    runner,
    image: typeof runnerOptions['image'] === 'string' ? runnerOptions['image'] : null,
    runner_options: runnerOptions,
    resources: toResources(body.resources, issues),
    priority: body.priority ?? 0,
    project: body.project ?? null,
    experiment: body.experiment ?? null,
    env: body.env ?? {},
    node_selector: toSelector(body.node_selector ?? {}),
    max_attempts: body.max_attempts ?? 1,
  };
}

/** Adds what the runner finds wrong with the draft to `issues`. */
export function checkRunner(draft: JobDraft, runner: RunnerServer, issues: Issues): void {
  const found = optionsCheckOf(runner)(draft.runner_options);
  for (const { path, message } of found) {
    issues.add(
      path === '' ? 'runner_options' : `runner_options.${path}`,
      `runner "${runner.name}": ${message}`,
    );
  }
  if (found.length > 0) return;
  for (const { path, message } of runner.check?.(draft.runner_options, draft) ?? [])
    issues.add(path, message);
}

const optionsChecks = new WeakMap<RunnerServer, Check>();

function optionsCheckOf(runner: RunnerServer): Check {
  const check = optionsChecks.get(runner) ?? compileCheck(runner.optionsSchema);
  optionsChecks.set(runner, check);
  return check;
}

/** `image` is short for `runner_options.image`. */
function toRunnerOptions(
  { image, runner_options = {} }: JobSubmit,
  runner: RunnerServer | undefined,
  issues: Issues,
): Record<string, unknown> {
  const options = structuredClone(runner_options) as Record<string, unknown>;
  if (image === undefined) return options;
  if (options['image'] !== undefined && options['image'] !== image)
    issues.add('image', 'is not the same as runner_options.image');
  if (runner && !takesImage(runner)) issues.add('image', `the runner "${runner.name}" takes no image`);
  else options['image'] = image;
  return options;
}

function takesImage({ optionsSchema }: RunnerServer): boolean {
  const schema = optionsSchema as { properties?: Record<string, unknown>; additionalProperties?: unknown };
  return schema.properties?.['image'] !== undefined || schema.additionalProperties !== false;
}

/** The base name of the program. */
function toName([program = '']: readonly string[]): string {
  const base = program
    .replace(/\/+$/, '')
    .split('/')
    .at(-1)
    ?.replace(/[\u0000-\u001f\u007f]/g, ' ')
    .trim();
  return (base === undefined || base === '' ? 'job' : base).slice(0, MAX_NAME_LENGTH);
}

function toResources({ gpu, cpu_only }: Partial<Resources> = {}, issues: Issues): Resources {
  if (cpu_only === true && gpu !== undefined && gpu > 0) {
    issues.add('resources', `cpu_only and gpu: ${gpu} exclude each other; leave one of them out`);
  }
  const gpus = cpu_only === true ? 0 : (gpu ?? DEFAULT_GPUS);
  return { gpu: gpus, cpu_only: gpus === 0 };
}

/** A node id is accepted in both of its forms. */
function toSelector(labels: JobDraft['node_selector']): JobDraft['node_selector'] {
  const nodeId = labels['node_id'];
  return nodeId === undefined ? labels : { ...labels, node_id: toId('node', nodeId) ?? nodeId };
}

function nameAll(names: readonly string[]): string {
  if (names.length === 0) return 'are none: add a runner plugin to svc.config.ts';
  return names.length === 1 ? `is only "${names[0]}"` : `are ${names.map((name) => `"${name}"`).join(', ')}`;
}
