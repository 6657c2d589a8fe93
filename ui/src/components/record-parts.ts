import { toCommandLine } from '@svc/client';
import { isTerminal } from '@svc/contract/protocol';
import { html, nothing, type TemplateResult } from 'lit';
import type { Loader } from '../controllers/loader.js';
import type { Job } from '../data/jobs.js';
import type { Run } from '../data/runs.js';
import { plural } from '../format.js';
import { paths } from '../paths.js';
import { renderWaiting } from './page-waiting.js';
import './svc-code.js';
import './svc-copy.js';
import './svc-notice.js';
import './svc-skeleton.js';
import './svc-stale.js';

const SHOWN_OF_SHA256 = 12;

/** A name and what it stands for, in a `<dl>`. */
export function fact(name: string, value: unknown, size = ''): TemplateResult {
  return html`<div class=${size || nothing}>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

/** The source files that a job was submitted with, and the command that gets them back. */
export function snapshotFact({ id, snapshot }: Job): TemplateResult | typeof nothing {
  if (snapshot === null) return nothing;
  const name = html`<code title=${snapshot}>${snapshot.slice(0, SHOWN_OF_SHA256)}</code>`;
  const command = `svc code ${id} -o ${id}`;
  return fact(
    'Source files',
    html`${name}<svc-copy label="Copy the command that gets the source files" .text=${command}></svc-copy>`,
  );
}

/** In place of the page of one record, which is in that list: that it is loading, is unknown to the server, was deleted, or could not be loaded. */
export function renderPending(
  record: Loader<unknown>,
  noun: string,
  listPath: string,
  list = `${noun}s`,
): TemplateResult {
  const { error, isDeleted } = record;
  if (!error) return renderWaiting(capitalized(noun), { label: capitalized(list), path: listPath });
  const all = html`<a href=${listPath}>Show all ${list}</a>`;
  if (isDeleted)
    return html`<svc-notice headline="This ${noun} was deleted" role="status">${all}</svc-notice>`;
  const isUnknown = error.code === 'not_found';
  return html`<svc-notice
    tone="danger"
    headline=${isUnknown ? `${capitalized(noun)} not found` : `The ${noun} could not be loaded`}
    action=${isUnknown ? '' : 'Try again'}
    @svc-action=${() => record.reload()}
    >${isUnknown ? all : error.message}</svc-notice
  >`;
}

function capitalized(noun: string): string {
  return `${noun[0]!.toUpperCase()}${noun.slice(1)}`;
}

/** A panel of the page of a record: that it is loading, could not be loaded, or what it shows. */
export function renderPart<T>(
  part: Loader<T>,
  noun: string,
  render: (value: T) => TemplateResult,
): TemplateResult {
  const { value, error } = part;
  if (value !== undefined)
    return html`<svc-stale .error=${error} @svc-retry=${() => part.reload()}></svc-stale>
      <section class="panel">${render(value)}</section>`;
  if (!error) return html`<div class="panel"><svc-skeleton rows="6"></svc-skeleton></div>`;
  return html`<section class="panel">
    <svc-notice
      tone="danger"
      headline="The ${noun} could not be loaded"
      action="Try again"
      @svc-action=${() => part.reload()}
      >${error.message}</svc-notice
    >
  </section>`;
}

/** What the job asked of its runner, beside the image. */
export function optionFacts({ runner_options: options }: Job) {
  return Object.entries(options)
    .filter(([name]) => name !== 'image')
    .map(([name, value]) =>
      fact(name, html`<code>${typeof value === 'string' ? value : JSON.stringify(value)}</code>`),
    );
}

/** In place of the log of an attempt that the job never had. */
export function noAttempt({ id, attempt }: Job): TemplateResult {
  return html`<section class="panel" aria-label="Log">
    <svc-notice headline="No such attempt">
      The job has ${plural(attempt, 'attempt')}. <a href=${paths.job(id)}>Show the newest</a>
    </svc-notice>
  </section>`;
}

/** What a terminal says of a job and does about it. */
export function renderCommands({ id, status }: Job, canWrite: boolean) {
  const writes = [
    ['svc', isTerminal(status) || status === 'LOST' ? 'retry' : 'cancel', id],
    ['svc', 'resubmit', id],
  ];
  const commands = [['svc', 'job', id], ['svc', 'logs', id], ...(canWrite ? writes : [])];
  return html`<details class="commands">
    <summary>Commands of svc</summary>
    ${commands.map((words) => html`<svc-code .text=${toCommandLine(words)}></svc-code>`)}
  </details>`;
}

export function renderRuns(label: string, runs: readonly Run[]) {
  if (runs.length === 0) return nothing;
  const links = runs.map(
    (run) => html`<li><a href=${paths.run(run.id)}>${run.name}</a>, attempt ${run.attempt ?? 1}</li>`,
  );
  return html`<div class="runs">
    <h2 class="label">${label}</h2>
    <ul>
      ${links}
    </ul>
  </div>`;
}
