import { toActionCommand, toCommandLine } from '@svc/client';
import type { CitationRecord, NextActionRecord } from '@svc/contract';
import { toNumber } from '../output/format.js';

/** Each action that has a command, with its reason. */
export function toActionLines(actions: readonly NextActionRecord[]): string[] {
  return actions.flatMap((action) => {
    const command = toActionCommand(action);
    return command === null ? [] : [toCommandLine(command), `  ${action.reason}`];
  });
}

export function toCitation(citation: CitationRecord): string {
  if ('metric' in citation)
    return `${citation.metric} = ${toNumber(citation.value)} at step ${citation.step}`;
  if ('event_id' in citation) return `event ${citation.event_id}`;
  if ('field' in citation) return `${citation.field}: ${citation.value}`;
  return toLogLine(citation);
}

/** A person counts lines from 1. */
export function toLogLine({ seq, text }: { readonly seq: number; readonly text: string }): string {
  return `log line ${seq + 1}: ${text}`;
}
