import { html, nothing } from 'lit';
import { icon } from '../components/icons.js';
import { plural } from '../format.js';

export function renderSwitch(label: string, name: 'wrap' | 'clock', isOn: boolean, onClick: () => void) {
  return html`<button
    class="button icon"
    aria-label=${label}
    title=${label}
    aria-pressed=${isOn ? 'true' : 'false'}
    @click=${onClick}
  >
    ${icon(name)}
  </button>`;
}

interface Notes {
  /** So many lines before the first one are not here. */
  readonly earlier: number;
  /** So many the agent had to drop. */
  readonly dropped: number;
  /** The number of the line that is asked for and is not here; null: it is, or none is. */
  readonly missing: number | null;
  onDownload(): void;
}

/** What is not in view because it is not here is always said. */
export function renderNotes({ earlier, dropped, missing, onDownload }: Notes) {
  if (earlier === 0 && dropped === 0 && missing === null) return nothing;
  return html`<p class="notes">
    ${
      earlier > 0
        ? html`<span>
            ${plural(earlier, 'earlier line')} not shown.
            <button @click=${onDownload}>Download the whole log</button>
          </span>`
        : nothing
    }
    ${missing === null ? nothing : html`<span class="bad">Line ${missing} is not among the lines shown.</span>`}
    ${dropped > 0 ? html`<span class="bad">${plural(dropped, 'line')} dropped by the agent: its log spool was full</span>` : nothing}
  </p>`;
}

interface Emptiness {
  readonly waiting: boolean;
  readonly live: boolean;
  readonly notStarted: string | null;
}

/** In place of lines, of which there are none. */
export function describeEmpty({ waiting, live, notStarted }: Emptiness): string {
  if (waiting) return 'The job has not started yet. Its log appears here once it runs.';
  if (live) return 'No output yet. Lines appear here as they are printed.';
  return notStarted ?? 'The job printed nothing.';
}
