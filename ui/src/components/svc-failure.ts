import { consume } from '@lit/context';
import { toActionCommand, toCommandLine } from '@svc/client';
import { LitElement, css, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { stripAnsi } from '../ansi.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { apiContext, whoContext } from '../data/contexts.js';
import {
  explainJobFailure,
  type CitationRecord,
  type FailureExplanation,
  type NextActionRecord,
} from '../data/failures.js';
import { formatValue } from '../format.js';
import { paths } from '../paths.js';
import { baseStyles, controlStyles, panelStyles } from '../styles/shared.js';
import './svc-code.js';
import './svc-skeleton.js';
import './svc-stale.js';

/** Whoever may only read is not offered what changes something. */
const WRITES: ReadonlySet<NextActionRecord['tool']> = new Set([
  'submit_job',
  'retry_job',
  'cancel_job',
  'evaluate_checkpoint',
]);
const SHOWN_CAUSES = 3;

/**
 * Why an attempt failed: the likely cause with its evidence, what to change, and what to do next; each thing once. `svc-line` asks for a line
 * of the log. `svc-explained` tells the seq of the line that the explanation cites, else of the first error that it has, else null.
 */
@customElement('svc-failure')
export class SvcFailure extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @property() jobId = '';
  @property({ type: Number }) attempt = 1;
  /** How the attempt ended, as its record says it; empty: it does not. */
  @property() message = '';

  #told: FailureExplanation | Error | null = null;
  readonly #explanation = new Loader(this, {
    load: (signal) => explainJobFailure(this.api, this.jobId, this.attempt, signal),
  });

  static override styles = [
    baseStyles,
    controlStyles,
    panelStyles,
    css`
      :host {
        display: block;
        margin-bottom: var(--space-4);
      }
      .body {
        display: grid;
        grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
        gap: var(--space-4) var(--space-6);
        padding: var(--space-4);
        font-size: var(--text-sm);
      }
      .body > * {
        min-width: 0;
        overflow-wrap: anywhere;
      }
      .wide {
        grid-column: 1 / -1;
      }
      .sure {
        margin-left: auto;
        color: var(--color-text-3);
        font-size: var(--text-xs);
        font-weight: var(--weight-normal);
      }
      h3 {
        margin: 0 0 var(--space-1);
        color: var(--color-text-3);
        font-size: var(--text-xs);
        font-weight: var(--weight-normal);
      }
      ul.fixes {
        padding-left: 1.1rem;
        list-style: disc;
      }
      li + li {
        margin-top: var(--space-1);
      }
      li a {
        display: inline-block;
        line-height: var(--target-min);
        text-decoration: underline;
        text-decoration-color: color-mix(in srgb, currentColor 35%, transparent);
        text-underline-offset: 3px;
        white-space: nowrap;
      }
      .quote {
        display: block;
        max-height: 6rem;
        overflow-y: auto;
        white-space: pre-wrap;
      }
      .message {
        white-space: pre-line;
      }
      .actions li {
        display: grid;
        gap: var(--space-1);
      }
      .actions li + li {
        margin-top: var(--space-3);
      }
      @media (max-width: 64rem) {
        .body {
          grid-template-columns: minmax(0, 1fr);
        }
      }
    `,
  ];

  override updated(): void {
    // One that scrolls must be within reach of the keyboard.
    for (const quote of this.renderRoot.querySelectorAll<HTMLElement>('.quote')) {
      if (quote.scrollHeight > quote.clientHeight) quote.tabIndex = 0;
      else quote.removeAttribute('tabindex');
    }
    const { value, error } = this.#explanation;
    const told = value ?? error;
    if (!told || told === this.#told) return;
    this.#told = told;
    const cited = value?.evidence.find((one) => 'seq' in one && one.attempt === this.attempt);
    const line = cited && 'seq' in cited ? cited : value?.last_errors[0];
    this.dispatchEvent(new CustomEvent<number | null>('svc-explained', { detail: line?.seq ?? null }));
  }

  override willUpdate(changed: PropertyValues): void {
    if (this.hasUpdated && (changed.has('jobId') || changed.has('attempt')))
      this.#explanation.reload({ clear: true });
  }

  override render() {
    const { value, error } = this.#explanation;
    return html`<section class="panel" aria-labelledby="why">
      <div class="panel-head">
        <h2 id="why">Why it failed</h2>
        ${value?.confidence ? html`<span class="sure">${Math.round(value.confidence * 100)} % sure</span>` : nothing}
      </div>
      <svc-stale .error=${error} @svc-retry=${() => this.#explanation.reload()}></svc-stale>
      ${value ? this.#renderExplanation(value) : this.#renderUnexplained()}
      ${(value ?? error) ? nothing : html`<svc-skeleton rows="4"></svc-skeleton>`}
    </section>`;
  }

  #renderUnexplained() {
    return this.message === ''
      ? nothing
      : html`<div class="body"><p class="wide message">${this.message}</p></div>`;
  }

  #renderExplanation(explanation: FailureExplanation) {
    const { summary, suggested_fixes: fixes, last_errors: errors, rule, causes } = explanation;
    // That is the message.
    const evidence = explanation.evidence.filter(
      (one) => !('field' in one && one.field === 'failure_message'),
    );
    const others = causes.filter((cause) => cause.rule !== rule).slice(0, SHOWN_CAUSES);
    const isCited = evidence.some((citation) => 'seq' in citation);
    return html`<div class="body">
      <p class="wide">${stripAnsi(summary)}</p>
      ${summary.includes(this.message) ? nothing : html`<p class="wide message">${stripAnsi(this.message)}</p>`}
      ${this.#renderList(
        'Evidence',
        evidence.map((citation) => this.#renderCitation(citation, explanation)),
      )}
      ${
        isCited || errors.length === 0
          ? nothing
          : this.#renderList(
              'From the log',
              errors.map((line) => this.#renderLine(this.attempt, line)),
            )
      }
      ${this.#renderList(
        'What to change',
        fixes.map((fix) => html`<li>${fix}</li>`),
        'fixes',
      )}
      ${this.#renderTraceback(explanation)}
      ${this.#renderList(
        'Also possible',
        others.map(({ title, confidence }) => html`<li>${title} (${Math.round(confidence * 100)} %)</li>`),
      )}
      ${this.#renderActions(explanation)}
    </div>`;
  }

  #renderList(heading: string, items: readonly unknown[], look = '') {
    if (items.length === 0) return nothing;
    return html`<div>
      <h3>${heading}</h3>
      <ul class=${look}>
        ${items}
      </ul>
    </div>`;
  }

  #renderCitation(citation: CitationRecord, { run_id }: FailureExplanation) {
    if ('seq' in citation) return this.#renderLine(citation.attempt, citation, this.#isSaid(citation.text));
    if ('event_id' in citation)
      return html`<li><a href=${paths.events({ job_id: this.jobId })}>An event of the job</a></li>`;
    if ('field' in citation) return html`<li>${citation.field}: <code>${citation.value}</code></li>`;
    const { metric, value, step } = citation;
    const text = html`<code>${metric}</code> = ${typeof value === 'number' ? formatValue(value) : value} at
      step ${step}`;
    return html`<li>${run_id === null ? text : html`<a href=${paths.run(run_id)}>${text}</a>`}</li>`;
  }

  /** A person counts lines from 1. */
  #renderLine(
    attempt: number,
    { seq, text }: { readonly seq: number; readonly text: string },
    isSaid = false,
  ) {
    const line = seq + 1;
    return html`<li>
      <a
        href=${paths.job(this.jobId, { attempt: String(attempt), line: String(line) })}
        @click=${() => this.dispatchEvent(new CustomEvent('svc-line', { detail: { attempt, line } }))}
        >Log line ${line}</a
      >
      ${isSaid ? nothing : html`<code class="quote">${stripAnsi(text)}</code>`}
    </li>`;
  }

  /** The message or the summary has the text. */
  #isSaid(text: string | null): boolean {
    const said = `${this.#explanation.value?.summary ?? ''}\n${this.message}`;
    return text !== null && said.includes(text.trim());
  }

  #renderTraceback({ traceback, evidence }: FailureExplanation) {
    if (traceback === null) return nothing;
    const { frame } = traceback;
    const isCited = evidence.some((one) => 'seq' in one && one.text === traceback.error);
    const error = isCited || this.#isSaid(traceback.error) ? null : traceback.error;
    if (frame === null && error === null) return nothing;
    return html`<div>
      <h3>In your code</h3>
      ${frame === null ? nothing : html`<p><code>${frame.file}:${frame.line}${frame.function === null ? '' : `, in ${frame.function}`}</code></p>`}
      ${frame?.code ? html`<code class="quote">${stripAnsi(frame.code)}</code>` : nothing}
      ${error === null ? nothing : html`<p><code>${stripAnsi(error)}</code></p>`}
    </div>`;
  }

  #renderActions({ next_actions: actions }: FailureExplanation) {
    const canWrite = this.who?.can_write ?? false;
    const shown = actions.flatMap((action) => {
      const command = WRITES.has(action.tool) && !canWrite ? null : toActionCommand(action);
      return command === null ? [] : [{ command: toCommandLine(command), reason: action.reason }];
    });
    if (shown.length === 0) return nothing;
    return html`<div class="wide">
      <h3>What to do next</h3>
      <ul class="actions">
        ${shown.map(
          ({ command, reason }) =>
            html`<li><span>${reason}</span><svc-code .text=${command}></svc-code></li>`,
        )}
      </ul>
    </div>`;
  }
}
