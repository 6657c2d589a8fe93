import type { Direction } from '@svc/contract';
import { guessDirection, isDirectionKnown } from '@svc/contract/protocol';
import type { MetricDefinition } from '../data/metric-definitions.js';
import type { Experiment, Project } from '../data/projects.js';
import { shortId } from '../format.js';
import { FIELDS, type Column } from '../table/columns.js';
import type { RunTableContext } from './run-cells.js';
import type { ColumnSection } from './svc-column-picker.js';

interface Known extends Pick<RunTableContext, 'values' | 'now' | 'tagPath'> {
  readonly projects: readonly Project[];
  readonly experiments: readonly Experiment[];
  readonly definitions: readonly MetricDefinition[];
}

/** What the cells of a table of runs need beside the runs. */
export function createContext({
  projects,
  experiments,
  definitions,
  values,
  now,
  tagPath,
}: Known): RunTableContext {
  const projectNames = toNames(projects);
  const experimentNames = toNames(experiments);
  const directions = new Map(
    definitions.map((one) => [one.name, isDirectionKnown(one) ? one.direction : null]),
  );
  return {
    projectName: ({ project_id: id }) => id && (projectNames.get(id) ?? shortId(id)),
    experimentName: ({ experiment_id: id }) => id && (experimentNames.get(id) ?? shortId(id)),
    values,
    best: (run, metric) => {
      const direction = directions.has(metric) ? directions.get(metric) : guess(metric);
      const known = values(run, metric);
      if (!direction || known === null) return null;
      return direction === 'minimize' ? known.lowest : known.highest;
    },
    now,
    tagPath,
  };
}

export function isLowBetter({ kind, name }: Column, definitions: readonly MetricDefinition[]): boolean {
  if (kind !== 'last' && kind !== 'best') return false;
  return (definitions.find((one) => one.name === name)?.direction ?? guess(name)) === 'minimize';
}

/** All columns that there are. A metric has a best value where somebody knows which values are good. */
export function toSections(
  definitions: readonly MetricDefinition[],
  configKeys: readonly string[],
): ColumnSection[] {
  const known = definitions.filter(isDirectionKnown);
  return [
    { title: 'Run', columns: FIELDS.map((name) => ({ kind: 'field', name })) },
    { title: 'Metrics: last value', columns: definitions.map(({ name }) => ({ kind: 'last', name })) },
    { title: 'Metrics: best value', columns: known.map(({ name }) => ({ kind: 'best', name })) },
    { title: 'Config', columns: configKeys.map((name) => ({ kind: 'config', name })) },
  ];
}

function toNames(places: readonly (Project | Experiment)[]): ReadonlyMap<string, string> {
  return new Map(places.map(({ id, name }) => [id, name]));
}

/** null: nothing in the name tells. */
function guess(metric: string): Direction | null {
  const { direction, guessed_from } = guessDirection(metric);
  return guessed_from === null ? null : direction;
}
