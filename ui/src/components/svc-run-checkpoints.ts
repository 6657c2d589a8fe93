import { consume } from '@lit/context';
import { LitElement, css, html } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { listCheckpoints } from '../data/checkpoints.js';
import { apiContext } from '../data/contexts.js';
import { findNodeOfRun } from '../data/node-of-run.js';
import type { Run } from '../data/runs.js';
import { formatCount } from '../format.js';
import { baseStyles, panelStyles } from '../styles/shared.js';
import { renderPart } from './record-parts.js';
import './svc-checkpoints-table.js';
import './svc-notice.js';

const POLL_MS = 60_000;
const MOST_SHOWN = 500;

/** The checkpoints of a run, and the node where their files are. */
@customElement('svc-run-checkpoints')
export class SvcRunCheckpoints extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) run!: Run;

  readonly #checkpoints = new Loader(this, { load: (signal) => this.#load(signal), everyMs: POLL_MS });

  static override styles = [
    baseStyles,
    panelStyles,
    css`
      .count {
        color: var(--color-text-3);
        font-size: var(--text-xs);
      }
    `,
  ];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      if (events.some(({ run_id: id, type }) => id === this.run.id && type === 'CHECKPOINT_CREATED'))
        this.#checkpoints.refresh();
    });
  }

  override render() {
    return renderPart(this.#checkpoints, 'checkpoints', ({ checkpoints, node }) => {
      if (checkpoints.length === 0)
        return html`<svc-notice
          headline="No checkpoints"
          command=${'run.checkpoint("out/checkpoint-120", step=120)'}
          >Report one from the training, or save it as checkpoint-N in the job’s folder: the agent finds it
          there.</svc-notice
        >`;
      const hasMore = checkpoints.length > MOST_SHOWN;
      const count = hasMore ? `the newest ${MOST_SHOWN}` : formatCount(checkpoints.length);
      return html`<div class="panel-head">
          <h2>Checkpoints</h2>
          <span class="count">${count}${node === null ? '' : `, on ${node}`}</span>
        </div>
        <svc-checkpoints-table .checkpoints=${checkpoints.slice(0, MOST_SHOWN)}></svc-checkpoints-table>`;
    });
  }

  async #load(signal: AbortSignal) {
    const checkpoints = await listCheckpoints(this.api, this.run.id, MOST_SHOWN + 1, signal);
    const node = checkpoints.length > 0 ? await findNodeOfRun(this.api, this.run, signal) : null;
    return { checkpoints, node };
  }
}
