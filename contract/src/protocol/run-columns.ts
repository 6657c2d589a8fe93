/** The fields of a run by which a list of runs can be sorted. */
export const RUN_FIELDS = [
  'name',
  'status',
  'project',
  'experiment',
  'progress',
  'tags',
  'created',
  'duration',
  'step',
  'epoch',
  'source',
  'job',
  'notes',
  'id',
] as const;
export type RunField = (typeof RUN_FIELDS)[number];

/** Of each run: a field, the entry of its config with this dotted name, or the last or best value of a metric. */
export type RunColumn =
  | { readonly kind: 'field'; readonly name: RunField }
  | { readonly kind: 'config' | 'last' | 'best'; readonly name: string };

export interface RunSort {
  readonly by: RunColumn;
  readonly isDescending: boolean;
}

/** From `status`, `config:model.layers`, `last:train/loss` or `best:train/loss`; null: the text names no column. */
export function toRunColumn(text: string): RunColumn | null {
  const field = RUN_FIELDS.find((one) => one === text);
  if (field) return { kind: 'field', name: field };
  const [, kind, name] = /^(config|last|best):([^]+)$/.exec(text) ?? [];
  return name === undefined ? null : { kind: kind as 'config' | 'last' | 'best', name };
}

/** From the text of a column, with `-` before it for the highest first. */
export function toRunSort(text: string): RunSort | null {
  const isDescending = text.startsWith('-');
  const by = toRunColumn(isDescending ? text.slice(1) : text);
  return by && { by, isDescending };
}
