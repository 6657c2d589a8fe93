import type { JobSubmit } from '@svc/contract';

type Given = Partial<Omit<JobSubmit, 'command'>>;

/**
 * The options of `svc submit` that say the same as the fields. Of a variable they have the name alone: no value belongs on a command
 * line, and `svc submit` takes it from its shell. Source files are those of the directory in which it is called.
 */
export function toSubmitOptions(job: Given): string[] {
  const { snapshot, resources, working_dir, runner_options, env, node_selector, max_attempts, priority } =
    job;
  const options: Record<string, unknown> = { ...runner_options };
  const image = job.image ?? options['image'];
  delete options['image'];
  return [
    ...toOption('--name', job.name),
    ...(job.type === undefined || job.type === 'TRAIN' ? [] : ['--type', job.type]),
    ...(snapshot === undefined ? [] : ['--upload']),
    ...(resources?.cpu_only ? ['--cpu-only'] : toOption('--gpu', resources?.gpu)),
    ...toOption('--working-dir', working_dir),
    ...(working_dir === undefined && snapshot === undefined ? ['--no-working-dir'] : []),
    ...toOption('--project', job.project),
    ...toOption('--experiment', job.experiment),
    ...(job.runner === 'process' ? [] : toOption('--runner', job.runner)),
    ...toOption('--image', image),
    ...Object.entries(options).flatMap(([name, value]) =>
      toOption('--runner-option', `${name}=${JSON.stringify(value)}`),
    ),
    ...(priority === 0 ? [] : toOption('--priority', priority)),
    ...(max_attempts === 1 ? [] : toOption('--max-attempts', max_attempts)),
    ...Object.entries(node_selector ?? {}).flatMap(([name, value]) =>
      toOption('--node-selector', `${name}=${value}`),
    ),
    ...Object.keys(env ?? {}).flatMap((name) => ['--env', name]),
  ];
}

/** `--name=VALUE` where VALUE would be read as an option itself. */
function toOption(name: string, value: unknown): string[] {
  if (value === undefined) return [];
  const text = String(value as string | number);
  return text.startsWith('-') ? [`${name}=${text}`] : [name, text];
}

/**
 * The words of the `svc submit` that submits this job from any shell, apart from the values of its variables and from its source files
 * (see `toSubmitOptions`): the Python environment of that shell is left out.
 */
export function toSubmitCommand({ command, ...job }: JobSubmit): string[] {
  const isProcess = (job.runner ?? 'process') === 'process';
  const venv = isProcess && job.snapshot === undefined ? ['--no-venv'] : [];
  return ['svc', 'submit', ...toSubmitOptions(job), ...venv, '--', ...command];
}
