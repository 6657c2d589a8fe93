/** A number among the arguments of a command, and what it becomes. */
export interface ArgumentChange {
  /** Of the option, without dashes and the path of a setting, in lower case, with `_` between words. */
  readonly names: ReadonlySet<string>;
  /** null: it can be changed no further. */
  readonly change: (value: number) => number | null;
}

export interface ChangedCommand {
  readonly command: readonly string[];
  /** As `--batch-size 32 in place of 64`. */
  readonly what: string;
}

export const SMALLER_BATCH: ArgumentChange = {
  names: new Set([
    'batch_size',
    'batchsize',
    'batch',
    'bs',
    'train_batch_size',
    'per_device_train_batch_size',
    'per_gpu_train_batch_size',
    'micro_batch_size',
    'train_micro_batch_size_per_gpu',
  ]),
  change: (value) => (Number.isInteger(value) && value >= 2 ? Math.floor(value / 2) : null),
};

export const LOWER_LEARNING_RATE: ArgumentChange = {
  names: new Set(['lr', 'learning_rate', 'base_lr', 'max_lr', 'peak_lr', 'init_lr']),
  change: (value) => (value > 0 ? Number((value / 10).toPrecision(6)) : null),
};

/** `--name`, `--name=value` or, as Hydra reads it, `path.name=value`. */
const OPTION = /^(?<prefix>-{0,2}(?:[\w-]+\.)*)(?<name>[A-Za-z][\w-]*)(?:=(?<value>[^=]+))?$/;
const NUMBER = /^\d+(?:\.\d*)?(?:e[+-]?\d+)?$/i;

/** The command with its last argument of these names changed, which is the one that counts; null when there is none. */
export function changeArgument(
  command: readonly string[],
  { names, change }: ArgumentChange,
): ChangedCommand | null {
  for (let at = command.length - 1; at > 0; at -= 1) {
    const { prefix = '', name = '', value } = OPTION.exec(command[at] ?? '')?.groups ?? {};
    if (!names.has(name.toLowerCase().replaceAll('-', '_'))) continue;
    const isApart = value === undefined;
    // A word without dashes is an option only with its value in it.
    if (isApart && !prefix.startsWith('-')) continue;
    const before = value ?? command[at + 1] ?? '';
    const after = NUMBER.test(before) ? change(Number(before)) : null;
    if (after === null) continue;
    const option = `${prefix}${name}`;
    const changed = isApart
      ? command.with(at + 1, String(after))
      : command.with(at, `${option}=${String(after)}`);
    return { command: changed, what: `${option} ${String(after)} in place of ${before}` };
  }
  return null;
}
