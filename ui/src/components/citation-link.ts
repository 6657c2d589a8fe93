import { html, type TemplateResult } from 'lit';
import type { CitationRecord } from '../data/diagnosis.js';
import { formatCount } from '../format.js';
import { paths } from '../paths.js';

/** Where a warning can be looked at: the point on the charts, the events, or the log. */
export function citationPath(runId: string, jobId: string | null, citation: CitationRecord): string | null {
  if ('metric' in citation) return pointPath(runId, citation.metric, citation.step);
  if ('event_id' in citation) return paths.run(runId, { tab: 'events' });
  if ('seq' in citation && jobId !== null) return paths.job(jobId);
  return null;
}

/** The charts of the run, at that point. */
export function pointPath(runId: string, metric: string, step: number): string {
  return paths.run(runId, { metric, step: String(step) });
}

/** A piece of evidence, as a link to where it stands. */
export function renderCitation(
  runId: string,
  jobId: string | null,
  citation: CitationRecord,
): TemplateResult {
  const path = citationPath(runId, jobId, citation);
  const text = describe(citation);
  return path === null ? html`<span>${text}</span>` : html`<a href=${path}>${text}</a>`;
}

function describe(citation: CitationRecord): string {
  if ('metric' in citation)
    return `${citation.metric} is ${citation.value} at step ${formatCount(citation.step)}`;
  if ('event_id' in citation) return 'its event';
  if ('seq' in citation) return `line ${formatCount(citation.seq)} of the log: ${citation.text}`;
  return `${citation.field}: ${citation.value}`;
}
