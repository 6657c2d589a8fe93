import { SEVERITIES, type EventRecord, type Notifier } from '@svc/contract';

/** Whether the target is to be told of the event. */
export function isWanted({ minSeverity = 'info', types = [] }: Notifier, event: EventRecord): boolean {
  const isSevere = SEVERITIES.indexOf(event.severity) >= SEVERITIES.indexOf(minSeverity);
  return isSevere && (types.length === 0 || types.includes(event.type));
}
