import { consume } from '@lit/context';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import { ApiError, toApiError, type Api } from '../data/api.js';
import { listCheckpoints, recommendCheckpoint } from '../data/checkpoints.js';
import { apiContext } from '../data/contexts.js';
import { findNodeOfRun } from '../data/node-of-run.js';
import type { Run } from '../data/runs.js';
import { formatCount } from '../format.js';
import { paths } from '../paths.js';
import { baseStyles, panelStyles } from '../styles/shared.js';
import { renderPart } from './record-parts.js';
import './svc-best-checkpoint.js';
import './svc-checkpoints-table.js';
import './svc-notice.js';

const POLL_MS = 60_000;
const MOST_SHOWN = 500;
const CHANGES: readonly string[] = ['CHECKPOINT_CREATED', 'EVALUATION_FINISHED'];

/** The checkpoints of a run, the best of them with the reason, and the node where their files are. */
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
      .compare {
        margin-left: auto;
        color: var(--color-text-2);
        font-size: var(--text-sm);
      }
      svc-best-checkpoint {
        border-bottom: 1px solid var(--color-line);
      }
    `,
  ];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      if (events.some(({ run_id: id, type }) => id === this.run.id && CHANGES.includes(type)))
        this.#checkpoints.refresh();
    });
  }

  override render() {
    return renderPart(this.#checkpoints, 'checkpoints', ({ checkpoints, node, best }) => {
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
          ${checkpoints.length > 1 ? html`<a class="compare" href=${paths.checkpoints({ run_id: this.run.id })}>Compare them</a>` : nothing}
        </div>
        <svc-best-checkpoint
          .best=${best instanceof ApiError ? null : best}
          .error=${best instanceof ApiError ? best : null}
        ></svc-best-checkpoint>
        <svc-checkpoints-table .checkpoints=${checkpoints.slice(0, MOST_SHOWN)}></svc-checkpoints-table>`;
    });
  }

  async #load(signal: AbortSignal) {
    const checkpoints = await listCheckpoints(this.api, this.run.id, MOST_SHOWN + 1, signal);
    if (checkpoints.length === 0) return { checkpoints, node: null, best: null };
    const [node, best] = await Promise.all([
      findNodeOfRun(this.api, this.run, signal),
      // Without one the rest is shown all the same.
      recommendCheckpoint(this.api, { run_id: this.run.id }, signal).catch(toApiError),
    ]);
    return { checkpoints, node, best };
  }
}
