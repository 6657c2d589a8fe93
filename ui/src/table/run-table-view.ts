import type { RunStatus } from '@svc/contract';
import type { RunFilter } from '../data/runs.js';
import type { Sort } from './arrange.js';
import { columnId, columnTitle, joinList, splitList, toColumn, type Column } from './columns.js';

/** The whole state of the page of runs, as its address has it. */
export interface RunTableView {
  readonly filter: RunFilter;
  /** null: the address names none. */
  readonly columns: readonly Column[] | null;
  /** null: newest first. */
  readonly sort: Sort | null;
  /** The id of a column by which the runs are grouped. */
  readonly group: string | null;
  readonly closed: readonly string[];
  readonly selected: readonly string[];
}

export const GROUP_FIELDS = ['project', 'experiment', 'tags', 'status'] as const;

export function toView(query: URLSearchParams): RunTableView {
  const list = (name: string): string[] => splitList(query.get(name) ?? '');
  const columns = list('columns').flatMap((id) => toColumn(id) ?? []);
  return {
    filter: {
      status: query.get('status') as RunStatus | null,
      project_id: query.get('project_id'),
      experiment_id: query.get('experiment_id'),
      job_id: query.get('job_id'),
      q: query.get('q'),
      tags: query.get('tags'),
    },
    columns: columns.length === 0 ? null : columns,
    sort: toSort(query.get('sort')),
    group: toGroup(query.get('group')),
    closed: list('closed'),
    selected: list('selected'),
  };
}

export function toQuery({ filter, columns, sort, group, closed, selected }: RunTableView) {
  return {
    ...(filter as Record<string, string | null>),
    columns: columns && joinList(columns.map(columnId)),
    sort: sort && sortText(sort),
    group,
    closed: joinList(closed),
    selected: joinList(selected),
  };
}

/** As the address has it, and as the server takes it. */
export function sortText({ by, isDescending }: Sort): string {
  return `${isDescending ? '-' : ''}${by}`;
}

export function describeSort({ by, isDescending }: Sort): string {
  const column = toColumn(by);
  const name = column === null ? 'name' : columnTitle(column).toLowerCase();
  const kind = column !== null && column.kind !== 'field' ? `${column.kind} ${column.name}` : name;
  return `${kind}, ${isDescending ? 'highest first' : 'lowest first'}`;
}

function toSort(text: string | null): Sort | null {
  if (!text) return null;
  const isDescending = text.startsWith('-');
  const by = isDescending ? text.slice(1) : text;
  return by === 'name' || toColumn(by) !== null ? { by, isDescending } : null;
}

function toGroup(text: string | null): string | null {
  const column = toColumn(text ?? '');
  if (column === null) return null;
  const isOffered = column.kind === 'config' || (GROUP_FIELDS as readonly string[]).includes(column.name);
  return isOffered && (column.kind === 'config' || column.kind === 'field') ? text : null;
}

const REMEMBERED = 'svc.runs.columns';

/** The columns that were chosen last in this browser; null: none. */
export function rememberedColumns(): Column[] | null {
  try {
    const columns = splitList(localStorage.getItem(REMEMBERED) ?? '').flatMap((id) => toColumn(id) ?? []);
    return columns.length === 0 ? null : columns;
  } catch {
    return null;
  }
}

/** null forgets them. */
export function rememberColumns(columns: readonly Column[] | null): void {
  try {
    if (columns === null) localStorage.removeItem(REMEMBERED);
    else localStorage.setItem(REMEMBERED, joinList(columns.map(columnId)));
  } catch {
    // A browser without storage forgets the choice with the page.
  }
}

/** Without that one where it is among them, else with it at the end. */
export function toggled(all: readonly string[], one: string): string[] {
  return all.includes(one) ? all.filter((each) => each !== one) : [...all, one];
}
