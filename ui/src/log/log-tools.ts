import { LOG_STREAMS } from '@svc/contract/protocol';
import { html, nothing } from 'lit';
import { icon, type IconName } from '../components/icons.js';
import { toApiError } from '../data/api.js';
import type { LogStream } from '../data/jobs.js';
import { formatCount } from '../format.js';
import type { LogChoice, LogSwitch } from './log-choice.js';
import type { LogScans } from './log-scans.js';

interface SearchTool {
  readonly text: string;
  readonly scans: LogScans;
  /** How many lines the log has. */
  readonly total: number;
  onInput(event: Event): void;
  onClear(): void;
  step(by: 1 | -1): void;
}

export function renderStreams(chosen: LogStream | null, choose: (stream: LogStream | null) => void) {
  return html`<div class="segmented" role="group" aria-label="Stream">
    ${([null, ...LOG_STREAMS] as const).map(
      (stream) =>
        html`<button aria-pressed=${stream === chosen ? 'true' : 'false'} @click=${() => choose(stream)}>
          ${stream ?? 'All'}
        </button>`,
    )}
  </div>`;
}

export function renderSearch(tool: SearchTool) {
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && tool.text !== '') tool.onClear();
    else if (event.key === 'Enter') tool.step(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<div class="search ${tool.text === '' ? '' : 'asked'}" role="search">
    ${icon('search', 14)}
    <input
      class="input needle"
      type="text"
      aria-label="Search the log"
      placeholder="Search the whole log"
      spellcheck="false"
      maxlength="500"
      .value=${tool.text}
      aria-keyshortcuts="/"
      @input=${tool.onInput}
      @keydown=${onKey}
    />
    ${tool.text === '' ? nothing : renderFound(tool)}
  </div>`;
}

function renderFound(tool: SearchTool) {
  const { search } = tool.scans;
  return html`<span class="found">
    <span role="status">${describeFound(tool)}</span>
    ${search && !search.isDone ? renderSmall('Stop searching', '', 'stop', () => search.stop()) : nothing}
    ${renderSmall('Previous match', ' (N)', 'up', () => tool.step(-1))}
    ${renderSmall('Next match', ' (n)', 'down', () => tool.step(1))}
  </span>`;
}

function renderSmall(label: string, key: string, name: IconName, onClick: () => void) {
  return html`<button class="button plain icon" aria-label=${label} title="${label}${key}" @click=${onClick}>
    ${icon(name, 14)}
  </button>`;
}

function describeFound({ scans: { search, hit }, total }: SearchTool): string {
  if (!search) return '…';
  const { found, isDone, isFull, isStopped, readTo, error } = search;
  const progress = isDone ? '' : ` · ${toPercent(readTo, total)}`;
  if (error) return `search failed: ${toApiError(error).message}`;
  if (found.length > 0)
    return `${formatCount(hit + 1)} of ${formatCount(found.length)}${isFull || isStopped ? '+' : ''}${progress}`;
  if (!isDone) return `searching${progress}`;
  return isStopped ? 'stopped' : 'no match';
}

export function toPercent(readTo: number, total: number): string {
  return `${Math.floor((100 * readTo) / Math.max(1, total))} %`;
}

interface Places {
  stepError(by: 1 | -1): void;
  goToStart(): void;
  /** Counted from 1. */
  goToLine(line: number): void;
}

export function renderPlaces(places: Places) {
  const onNumber = (event: Event): void => {
    const field = event.target as HTMLInputElement;
    const line = Number(field.value);
    if (!Number.isInteger(line) || line < 1) return;
    places.goToLine(line);
    field.value = '';
  };
  return html`<div class="places" role="group" aria-label="Go to">
    ${renderErrorStep('Previous error', 'before this one (E)', 'up', () => places.stepError(-1))}
    ${renderErrorStep('Next error', 'after this one (e)', 'down', () => places.stepError(1))}
    ${renderButton('Go to the start of the log', 'toStart', () => places.goToStart())}
    <input
      class="input number"
      type="text"
      inputmode="numeric"
      aria-label="Go to line"
      placeholder="Line"
      @change=${onNumber}
    />
  </div>`;
}

function renderErrorStep(label: string, which: string, name: IconName, onClick: () => void) {
  return html`<button
    class="button"
    aria-label=${label}
    title="The line that tells of an error ${which}"
    @click=${onClick}
  >
    ${icon(name, 14)}Error
  </button>`;
}

export function renderAttempts(attempt: number, attempts: number, choose: (attempt: number) => void) {
  return html`<select
    class="select"
    aria-label="Attempt"
    .value=${String(attempt)}
    @change=${(event: Event) => choose(Number((event.target as HTMLSelectElement).value))}
  >
    ${Array.from({ length: attempts }, (_, at) => attempts - at).map(
      (one) => html`<option value=${one} ?selected=${one === attempt}>Attempt ${one}</option>`,
    )}
  </select>`;
}

function renderButton(label: string, name: IconName, onClick: () => void) {
  return html`<button class="button icon" aria-label=${label} title=${label} @click=${onClick}>
    ${icon(name)}
  </button>`;
}

function renderSwitch(label: string, name: 'wrap' | 'clock', isOn: boolean, onClick: () => void) {
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

export function renderSwitches(
  { isWrapped, hasTimes }: LogChoice,
  turn: (name: LogSwitch, isOn: boolean) => void,
  download: () => void,
) {
  return html`<div class="switches">
    ${renderSwitch('Wrap long lines', 'wrap', isWrapped, () => turn('wrap', !isWrapped))}
    ${renderSwitch('Show times', 'clock', hasTimes, () => turn('times', !hasTimes))}
    ${renderButton('Download the whole log', 'download', download)}
  </div>`;
}
