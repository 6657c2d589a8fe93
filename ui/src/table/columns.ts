import {
  isDirectionKnown,
  RUN_FIELDS,
  toRunColumn,
  type RunColumn,
  type RunField,
} from '@svc/contract/protocol';
import type { MetricDefinition } from '../data/metric-definitions.js';

export type Field = Exclude<RunField, 'name'>;

/**
 * What a column of the table of runs shows beside the name: a field of the run, an entry of its config, or the last or best value of a
 * metric. Written as text it is `status`, `config:model.layers`, `last:train/loss` or `best:train/loss`, as the server sorts by it.
 */
export type Column = Exclude<RunColumn, { kind: 'field' }> | { readonly kind: 'field'; readonly name: Field };

export const FIELDS = RUN_FIELDS.filter((field) => field !== 'name');

const FIELD_TITLES: Readonly<Record<Field, string>> = {
  status: 'Status',
  project: 'Project',
  experiment: 'Experiment',
  progress: 'Progress',
  tags: 'Tags',
  created: 'Created',
  duration: 'Duration',
  step: 'Step',
  epoch: 'Epoch',
  source: 'Source',
  job: 'Job',
  notes: 'Notes',
  id: 'Id',
};
const NUMBER_FIELDS: readonly Field[] = ['created', 'duration', 'step', 'epoch'];
const DEFAULT_FIELDS: readonly Field[] = [
  'status',
  'progress',
  'created',
  'duration',
  'project',
  'experiment',
  'tags',
];

/** What most trainings are judged by while no metric is primary, the first one that there is. */
const USUAL_METRICS = ['val/loss', 'eval/loss', 'val_loss', 'eval_loss', 'train/loss', 'loss'];

/** Behind the progress stand the last and best value of the primary metric, or else the best value of another one. */
export function defaultColumns(definitions: readonly MetricDefinition[]): Column[] {
  const primary = definitions.find((one) => one.is_primary);
  const metric: Column[] = primary
    ? [
        { kind: 'last', name: primary.name },
        { kind: 'best', name: primary.name },
      ]
    : toUsual(definitions).map((name) => ({ kind: 'best', name }));
  return DEFAULT_FIELDS.flatMap((name) => {
    const field: Column = { kind: 'field', name };
    return name === 'progress' ? [field, ...metric] : [field];
  });
}

/** At most one; of those by other names the first of which somebody knows which values are good. */
function toUsual(definitions: readonly MetricDefinition[]): string[] {
  const known = definitions.filter(isDirectionKnown).map(({ name }) => name);
  return [USUAL_METRICS.find((name) => known.includes(name)) ?? known].flat().slice(0, 1);
}

export function columnId({ kind, name }: Column): string {
  return kind === 'field' ? name : `${kind}:${name}`;
}

/** null: the text names no column. */
export function toColumn(id: string): Column | null {
  const column = toRunColumn(id);
  return column === null || (column.kind === 'field' && column.name === 'name') ? null : (column as Column);
}

export function columnTitle({ kind, name }: Column): string {
  return kind === 'field' ? FIELD_TITLES[name] : name;
}

/** Above the title, where that alone does not say it. */
export function columnHint({ kind }: Column): string {
  return kind === 'field' ? '' : kind;
}

export function isNumberColumn({ kind, name }: Column): boolean {
  return kind === 'field' ? NUMBER_FIELDS.includes(name) : kind !== 'config';
}

/** The metrics of which the columns show values. */
export function metricsOf(columns: readonly Column[]): string[] {
  return [
    ...new Set(columns.flatMap(({ kind, name }) => (kind === 'last' || kind === 'best' ? [name] : []))),
  ];
}

/** Texts as one value of an address; commas and backslashes in them are escaped. */
export function joinList(texts: readonly string[]): string {
  return texts.map((text) => text.replaceAll(/[\\,]/g, '\\$&')).join(',');
}

export function splitList(joined: string): string[] {
  const texts = joined.match(/(?:\\[^]|[^\\,])+/g) ?? [];
  return texts.map((text) => text.replaceAll(/\\([^])/g, '$1'));
}
