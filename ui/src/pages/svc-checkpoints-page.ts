import { consume } from '@lit/context';
import type { BestCheckpoint, Checkpoint } from '@svc/contract';
import { LitElement, css, html, nothing, type PropertyValues } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import '../components/svc-best-checkpoint.js';
import '../components/svc-checkpoint-comparison.js';
import '../components/svc-checkpoint-row.js';
import type { Column } from '../components/svc-list.js';
import '../components/svc-list.js';
import '../components/svc-notice.js';
import { ListController } from '../controllers/list.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import { RecordNames } from '../controllers/record-names.js';
import type { Api } from '../data/api.js';
import { recommendCheckpoint } from '../data/checkpoints.js';
import { MAX_COMPARED } from '../data/comparison.js';
import { apiContext } from '../data/contexts.js';
import { readCheckpoints } from '../data/lists.js';
import { navigate, paths } from '../paths.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { tabStyles } from '../styles/tab-styles.js';
import { renderCheckpointTabs, scopeStyles } from './checkpoint-tabs.js';

type Listed = Checkpoint & { is_best?: boolean };

const COLUMNS: readonly Column[] = [
  { title: 'Compare', isHidden: true },
  { title: 'Checkpoint' },
  { title: 'Run' },
  { title: 'Step', isNumber: true },
  { title: 'Size', isNumber: true },
  { title: 'Evaluations', isNumber: true },
  { title: 'Saved', isNumber: true },
];

/** Checkpoints of all runs or of one, newest first; those that are chosen are compared above them. */
@customElement('svc-checkpoints-page')
export class SvcCheckpointsPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) query = new URLSearchParams();

  readonly #names = new RecordNames(this, () => this.api);
  readonly #checkpoints = new ListController<Listed>(this, {
    question: () => this.#runId ?? '',
    read: (last, signal) => readCheckpoints(this.api, this.#runId, last, signal),
    everyMs: 15_000,
  });
  readonly #best = new Loader<BestCheckpoint | null>(this, {
    load: async (signal) =>
      this.#runId === null ? null : recommendCheckpoint(this.api, this.#runId, signal),
    everyMs: 30_000,
  });

  static override styles = [
    baseStyles,
    controlStyles,
    pageStyles,
    tabStyles,
    scopeStyles,
    css`
      :host {
        --columns: 1.25rem minmax(9rem, 2fr) minmax(7rem, 1.4fr) 5.5rem 5.5rem 5.5rem 5rem;
      }
      .best,
      svc-checkpoint-comparison {
        display: block;
        margin-bottom: var(--space-4);
      }
    `,
  ];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      if (!events.some(({ type }) => type === 'CHECKPOINT_CREATED' || type === 'EVALUATION_FINISHED')) return;
      this.#checkpoints.refresh();
      this.#best.refresh();
    });
  }

  override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('query')?.get('run_id') ?? null;
    if (this.hasUpdated && changed.has('query') && before !== this.#runId) this.#best.reload({ clear: true });
  }

  override render() {
    return html`
      <header class="page-head"><h1>Checkpoints</h1></header>
      ${renderCheckpointTabs('checkpoints', this.#runId)} ${this.#renderScope()} ${this.#renderComparison()}
      <svc-list
        noun="checkpoint"
        .columns=${COLUMNS}
        .view=${this.#checkpoints.view}
        .renderItems=${(checkpoints: readonly Listed[]) => this.#renderRows(checkpoints)}
        >${this.#renderEmpty()}</svc-list
      >
    `;
  }

  get #runId(): string | null {
    return this.query.get('run_id') || null;
  }

  get #chosen(): string[] {
    return [...new Set(this.query.get('compare')?.split(',').filter(Boolean) ?? [])];
  }

  #renderScope() {
    const runId = this.#runId;
    if (runId === null) return nothing;
    return html`<p class="scope">
        <span>of the run <a href=${paths.run(runId)}>${this.#names.of(runId)}</a></span>
        <a href=${paths.checkpoints()}>Show those of all runs</a>
      </p>
      <div class="panel best">
        <svc-best-checkpoint
          .best=${this.#best.value ?? null}
          .error=${this.#best.error}
        ></svc-best-checkpoint>
      </div>`;
  }

  #renderComparison() {
    if (this.#chosen.length === 0) return nothing;
    return html`<svc-checkpoint-comparison
      .ids=${this.#chosen}
      .metric=${this.query.get('metric')}
      .runNameOf=${(runId: string) => this.#names.of(runId)}
      @svc-metric=${({ detail }: CustomEvent<string | null>) => this.#go({ metric: detail })}
      @svc-choose=${({ detail }: CustomEvent<string>) => this.#toggle(detail)}
      @svc-close=${() => this.#go({ compare: null, metric: null })}
    ></svc-checkpoint-comparison>`;
  }

  #renderRows(checkpoints: readonly Listed[]) {
    const chosen = this.#chosen;
    return html`${repeat(
      checkpoints,
      ({ id }) => id,
      (checkpoint) =>
        html`<svc-checkpoint-row
          .checkpoint=${checkpoint}
          runName=${this.#names.of(checkpoint.run_id)}
          ?chosen=${chosen.includes(checkpoint.id)}
          ?full=${chosen.length >= MAX_COMPARED}
          @svc-choose=${({ detail }: CustomEvent<string>) => this.#toggle(detail)}
        ></svc-checkpoint-row>`,
    )}`;
  }

  #renderEmpty() {
    return html`<svc-notice
      icon="checkpoints"
      headline=${this.#runId === null ? 'No checkpoints yet' : 'This run has no checkpoint yet'}
      command=${'run.checkpoint("out/checkpoint-100", step=100)'}
      >A training registers what it saves by this line. Folders named checkpoint-… in the working directory of
      a job are found by themselves.</svc-notice
    >`;
  }

  #toggle(id: string): void {
    const chosen = this.#chosen;
    const next = chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id];
    this.#go({ compare: next.join(',') });
  }

  #go(change: Record<string, string | null>): void {
    const { run_id = null, compare = null, metric = null } = Object.fromEntries(this.query);
    navigate(paths.checkpoints({ run_id, compare, metric, ...change }), { replace: true });
  }
}
