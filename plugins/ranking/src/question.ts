import { MAX_COMPARED, toId, type IdKind, type Protocol } from '@svc/contract';
import { fail, failValidation } from '@svc/kernel';
import type { ProtocolFilter } from '@svc/plugin-evaluations';

/** What a ranking is asked for: the metric (left out: the primary one) and the protocol of the evaluations that count. */
export interface Question {
  readonly metric?: string | undefined;
  readonly labels: ProtocolFilter;
}

type Asked = { readonly metric?: string | undefined } & ProtocolFilter;

export const LABELS = ['suite', 'dataset', 'dataset_version'] as const satisfies readonly (keyof Protocol)[];

export function toQuestion({ metric, suite, dataset, dataset_version }: Asked): Question {
  return { metric, labels: { suite, dataset, dataset_version } };
}

/** The canonical ids of a list of 2 to 50, without repetition. Throws validation_error, and not_found for one that can be nobody's. */
export function parseIds(kind: IdKind, text: string): string[] {
  const given = text.split(',').map((id) => id.trim());
  if (given.length < 2 || given.length > MAX_COMPARED)
    failValidation({ path: 'ids', message: `must name 2 to ${MAX_COMPARED}, not ${given.length}` });
  const ids = given.map((id) => toId(kind, id) ?? fail('not_found', `no ${kind} "${id}"`));
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined)
    failValidation({ path: 'ids', message: `names ${repeated} more than once; leave it out` });
  return ids;
}

/** The records in the order of their ids. Throws not_found for the first that is missing. */
export function inOrder<T extends { readonly id: string }>(
  kind: IdKind,
  ids: readonly string[],
  found: readonly T[],
): T[] {
  const byId = new Map(found.map((record) => [record.id, record]));
  return ids.map((id) => byId.get(id) ?? fail('not_found', `no ${kind} "${id}"`));
}
