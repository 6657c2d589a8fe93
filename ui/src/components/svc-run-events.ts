import { consume } from '@lit/context';
import { LitElement, css, html } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { ListController } from '../controllers/list.js';
import { LiveEvents } from '../controllers/live-events.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import type { EventRecord } from '../data/event-list.js';
import { readEvents } from '../data/lists.js';
import type { Run } from '../data/runs.js';
import { paths } from '../paths.js';
import { baseStyles } from '../styles/shared.js';
import './svc-events-list.js';
import './svc-list.js';
import './svc-notice.js';

/** The events of a run, newest first. */
@customElement('svc-run-events')
export class SvcRunEvents extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) run!: Run;

  readonly #events = new ListController<EventRecord>(this, {
    question: () => this.run.id,
    read: (last, signal) => readEvents(this.api, { run_id: this.run.id }, last, signal),
    everyMs: 60_000,
  });

  static override styles = [
    baseStyles,
    css`
      p {
        margin-top: var(--space-3);
        font-size: var(--text-sm);
      }
    `,
  ];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      const own = events.filter((event) => event.run_id === this.run.id);
      if (own.length > 0) this.#events.add(own);
    });
  }

  override render() {
    return html`<svc-list
        noun="event"
        .view=${this.#events.view}
        .renderItems=${(events: readonly EventRecord[]) =>
          html`<svc-events-list unlinked .events=${events}></svc-events-list>`}
        ><svc-notice icon="events" headline="No events" command=${'run.event("lr dropped")'}
          >Starts, ends, checkpoints and what the detectors see appear here; the training can report its
          own.</svc-notice
        ></svc-list
      >
      <p><a href=${paths.events({ run_id: this.run.id })}>Show on the page of events</a></p>`;
  }
}
