import type { EventRecord, Severity } from '@svc/contract';
import { SEVERITIES } from '@svc/contract/protocol';

export type { EventRecord, Severity };

export type EventFilter = {
  severity?: Severity | null;
  /** One of the service's, or of the detector of a plugin. */
  type?: string | null;
  job_id?: string | null;
  run_id?: string | null;
  node_id?: string | null;
};

/** The filter in a page's address. */
export function filterOf(query: URLSearchParams): EventFilter {
  return {
    severity: SEVERITIES.find((severity) => severity === query.get('severity')) ?? null,
    type: query.get('type'),
    job_id: query.get('job_id'),
    run_id: query.get('run_id'),
    node_id: query.get('node_id'),
  };
}

export function isWanted(event: EventRecord, filter: EventFilter): boolean {
  return (Object.keys(filter) as (keyof EventFilter)[]).every(
    (key) => !filter[key] || event[key] === filter[key],
  );
}

/** A job or run that failed or was lost, and whatever else is critical. */
export function tellsOfFailure({ type, severity, data }: EventRecord): boolean {
  if (severity === 'critical' || type === 'JOB_LOST' || type === 'RUN_LOST') return true;
  return type === 'RUN_FINISHED' && (data as { status?: unknown }).status === 'FAILED';
}
