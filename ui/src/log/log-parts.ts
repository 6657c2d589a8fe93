import { html, nothing } from 'lit';
import { icon } from '../components/icons.js';
import '../components/svc-copy.js';
import '../components/svc-skeleton.js';
import { toApiError } from '../data/api.js';
import type { LogStream } from '../data/jobs.js';
import { formatCount, plural } from '../format.js';
import type { LogFeed } from './log-feed.js';
import { shownPartials } from './log-layout.js';
import type { LogPlace } from './log-place.js';
import type { LogRow } from './log-rows.js';
import type { LogScans } from './log-scans.js';
import type { LogSpace } from './log-space.js';
import { toPercent } from './log-tools.js';

/** What is not in view because it is not here is always said. `current`: the seq of the line that the reader has gone to. */
export function renderNotes(feed: LogFeed, scans: LogScans, space: LogSpace, current: number) {
  const { dropped, readError, isLoaded, rows } = feed;
  const isBeyond = isLoaded && current >= rows.total;
  const notes = [
    isBeyond
      ? renderBad(`There is no line ${formatCount(current + 1)}. The log has ${plural(rows.total, 'line')}.`)
      : nothing,
    dropped > 0
      ? renderBad(`${plural(dropped, 'line')} dropped by the agent: its log spool was full`)
      : nothing,
    readError
      ? html`${renderBad(`Lines could not be read. ${readError.message}`)}
          <button @click=${() => feed.retryReading()}>Try again</button>`
      : nothing,
    scans.isSeekingError
      ? html`<span role="status"
          >Looking for errors: ${toPercent(scans.errors?.readTo ?? 0, rows.total)}</span
        >`
      : nothing,
    renderStreamNote(scans, rows.total),
    renderReach(space),
  ].filter((note) => note !== nothing);
  return notes.length === 0 ? nothing : html`<p class="notes">${notes}</p>`;
}

function renderBad(text: string) {
  return html`<span class="bad">${text}</span>`;
}

function renderStreamNote({ stream }: LogScans, total: number) {
  if (stream?.error)
    return renderBad(`The lines of this stream could not be read. ${toApiError(stream.error).message}`);
  if (!stream || stream.isDone) return nothing;
  return html`<span>Reading the lines of this stream: ${toPercent(stream.readTo, total)}</span>`;
}

/** Of a log that is too long for a scroll bar. */
function renderReach({ base, count, length }: LogSpace) {
  if (length <= count) return nothing;
  const range = `${formatCount(base + 1)} to ${formatCount(base + count)} of ${formatCount(length)}`;
  return html`<span
    >Scrolling reaches lines ${range}; a line number, a match or an error leads to the others.</span
  >`;
}

interface Emptiness {
  readonly waiting: boolean;
  readonly live: boolean;
  readonly notStarted: string | null;
}

/** In place of lines, of which there are none. */
function describeEmpty({ waiting, live, notStarted }: Emptiness): string {
  if (waiting) return 'The job has not started yet. Its log appears here once it runs.';
  if (live) return 'The job has printed nothing yet. Lines appear here as they are printed.';
  return notStarted ?? 'The job printed nothing.';
}

/** What can be done with the line that the reader has gone to. */
export function renderCurrent(row: LogRow, path: string) {
  const number = formatCount(row.seq + 1);
  return html`<div class="line" role="group" aria-label="Line ${number}">
    Line ${number}<svc-copy label="Copy the line" .text=${row.text}></svc-copy>Link<svc-copy
      label="Copy a link to the line"
      .text=${new URL(path, window.location.origin).href}
    ></svc-copy>
  </div>`;
}

/** In place of lines, while there are none. */
export function renderState(
  emptiness: Emptiness,
  feed: LogFeed,
  { stream }: LogScans,
  shown: LogStream | null,
) {
  if (feed.error) {
    return html`<div class="empty">
      <p>The log could not be loaded. ${feed.error.message}</p>
      <p><button class="button" @click=${() => feed.reload()}>Try again</button></p>
    </div>`;
  }
  if (!feed.isLoaded) return html`<svc-skeleton class="empty" rows="3"></svc-skeleton>`;
  if (shownPartials(feed.partials, shown).length > 0) return nothing;
  if (feed.rows.total === 0) return html`<p class="empty">${describeEmpty(emptiness)}</p>`;
  const isEmpty = stream?.isDone && !stream.error && stream.found.length === 0;
  return isEmpty ? html`<p class="empty">No lines on ${shown}.</p>` : nothing;
}

export function renderNewest({ isFollowing, space }: LogPlace, unseen: number, onClick: () => void) {
  if (isFollowing || space.count === 0) return nothing;
  const label = unseen > 0 ? plural(unseen, 'new line') : 'Jump to the newest line';
  return html`<button class="button newest" @click=${onClick}>${icon('toEnd', 14)}${label}</button>`;
}
