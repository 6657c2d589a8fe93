import { consume } from '@lit/context';
import { fromMetricValue } from '@svc/contract/protocol';
import { LitElement, html, nothing } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { chooseMetrics, metricsOf, type ComparedMetric } from '../compare/chosen-metrics.js';
import {
  queryOf,
  runsIn,
  toList,
  viewOf,
  withRuns,
  withoutRuns,
  type CompareChange,
  type CompareView,
} from '../compare/compare-view.js';
import { axisOf, stepsInView } from '../compare/run-axes.js';
import { toShownRuns, type ShownRun } from '../compare/shown-run.js';
import type { ChartsChange } from '../compare/svc-compare-charts.js';
import '../compare/svc-compare-charts.js';
import '../compare/svc-compare-table.js';
import '../compare/svc-config-against-metric.js';
import type { AxesChoice } from '../compare/svc-config-against-metric.js';
import '../compare/svc-config-differences.js';
import '../compare/svc-run-picker.js';
import { icon } from '../components/icons.js';
import '../components/svc-copy.js';
import '../components/svc-notice.js';
import '../components/svc-skeleton.js';
import '../components/svc-stale.js';
import { Address } from '../controllers/address.js';
import { Comparison } from '../controllers/comparison.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { MAX_COMPARED, readComparedRuns, type RunsRead } from '../data/comparison.js';
import { apiContext } from '../data/contexts.js';
import { plural, shortId } from '../format.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { comparePageStyles } from './compare-page-styles.js';

const LIVE_POLL_MS = 15_000;
const SLOW_POLL_MS = 120_000;

/** Up to 50 runs side by side: best values, curves, config, and config against a metric. */
@customElement('svc-compare-page')
export class SvcComparePage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @state() private isPicking = false;
  readonly #address = new Address(this);
  #view: CompareView = viewOf(this.#address);
  #asked = '';
  #shown: readonly ShownRun[] = [];
  #metrics: readonly ComparedMetric[] = [];
  #chosen: readonly ComparedMetric[] = [];

  readonly #runs = new Loader<RunsRead>(this, {
    load: (signal) => this.#loadRuns(signal),
    everyMs: LIVE_POLL_MS,
  });
  readonly #comparison = new Comparison(this, () => this.api);

  static override styles = [baseStyles, controlStyles, iconStyles, pageStyles, comparePageStyles];

  override willUpdate(): void {
    this.#view = viewOf(this.#address);
    const asked = toList(this.#runIds);
    if (asked !== this.#asked) {
      this.#asked = asked;
      if (this.hasUpdated) this.#runs.reload();
    }
    this.#arrange();
  }

  /** What is shown of the runs that are there; a run that was just removed goes at once. */
  #arrange(): void {
    const { places, metrics } = this.#view;
    const read = this.#runs.value?.runs.filter(({ asked }) => places.includes(asked)) ?? [];
    this.#shown = toShownRuns(read, this.#view);
    this.#metrics = metricsOf(read.map(({ summary }) => summary));
    this.#chosen = chooseMetrics(this.#metrics, metrics);
    this.#comparison.watch({
      runIds: this.#shown.map(({ id }) => id),
      metrics: this.#chosen.map(({ name }) => name),
      ranked: this.#chosen.flatMap(({ name, direction }) => (direction ? [name] : [])),
      range: stepsInView(this.#view, axisOf(this.#view, this.#shown)),
    });
  }

  /** As the address names them. */
  get #runIds(): string[] {
    return runsIn(this.#view.places);
  }

  override render() {
    if (this.#runIds.length === 0) return this.#renderEmpty();
    return html`
      ${this.#renderHead()}
      <svc-stale
        .error=${this.#runs.value ? this.#runs.error : null}
        @svc-retry=${() => this.#runs.reload()}
      ></svc-stale>
      ${this.#renderPicker()} ${this.#renderNotes()} ${this.#renderBody()}
    `;
  }

  #renderEmpty() {
    return html`<header class="page-head"><h1>Compare runs</h1></header>
      <p class="lead">
        Choose up to ${MAX_COMPARED} runs: here, by their check boxes among the
        <a href=${paths.runs()}>runs</a>, or all of an experiment on its page under
        <a href=${paths.projects()}>projects</a>. The address of the comparison then shows the same view to
        everybody.
      </p>
      ${this.#renderRunPicker('Compare')}`;
  }

  #renderHead() {
    const hidden = this.#shown.filter(({ isHidden }) => isHidden).length;
    return html`<header class="page-head">
      <h1>Compare</h1>
      <p class="summary">
        ${plural(this.#runs.value ? this.#shown.length : this.#runIds.length, 'run')}${hidden === 0 ? '' : `, ${hidden} of them hidden`}
      </p>
      <div class="actions">
        <span class="link"
          >Link<svc-copy label="Copy the link to this view" .text=${window.location.href}></svc-copy
        ></span>
        <button
          class="button"
          aria-expanded=${this.isPicking ? 'true' : 'false'}
          @click=${() => (this.isPicking = !this.isPicking)}
        >
          ${this.isPicking ? 'Close' : 'Add runs'}
        </button>
      </div>
    </header>`;
  }

  #renderPicker() {
    return this.isPicking ? html`<div class="picker">${this.#renderRunPicker('Add')}</div>` : nothing;
  }

  #renderRunPicker(verb: string) {
    const { places } = this.#view;
    return html`<svc-run-picker
      verb=${verb}
      .taken=${this.#shown.map(({ id }) => id)}
      .most=${MAX_COMPARED - this.#runIds.length}
      @svc-runs=${({ detail }: CustomEvent<string[]>) => {
        this.isPicking = false;
        this.#go({ places: withRuns(places, detail) });
      }}
    ></svc-run-picker>`;
  }

  #renderNotes() {
    const { leftOut } = this.#view;
    const failures = this.#runs.value?.failures ?? [];
    const refused = this.#chosen.filter(
      ({ direction, name }) => direction && this.#comparison.of(name)?.refusal,
    );
    const notes = [
      leftOut > 0 &&
        `${MAX_COMPARED} runs are compared at most: the last ${leftOut} of the address are left out.`,
      ...failures.map(({ asked, error }) =>
        error.status === 404
          ? `There is no run ${shortId(asked)}: it was deleted, or the address is mistyped.`
          : `The run ${shortId(asked)} could not be loaded. ${error.message}`,
      ),
      ...refused.map(({ name }) => `${name} has no winner. ${this.#comparison.of(name)?.refusal?.message}`),
    ].filter((note) => note !== false);
    if (notes.length === 0) return nothing;
    return html`<div role="status">
      <ul class="notes">
        ${notes.map((note) => html`<li>${icon('warning', 14)}<span>${note}</span></li>`)}
      </ul>
    </div>`;
  }

  #renderBody() {
    if (!this.#runs.value) return this.#renderPending();
    if (this.#shown.length === 0) return this.#renderNone();
    const { baseline, isAllConfig, sort, target, x, axes } = this.#view;
    const visible = this.#shown.filter(({ isHidden }) => !isHidden);
    return html`
      <section class="panel">
        <svc-compare-table
          .runs=${this.#shown}
          .metrics=${this.#chosen}
          .rankings=${this.#rankings}
          .baseline=${baseline}
          .sort=${sort}
          @svc-hide=${({ detail }: CustomEvent<string>) => this.#toggleHidden(detail)}
          @svc-baseline=${({ detail }: CustomEvent<string | null>) => this.#go({ baseline: detail })}
          @svc-remove=${({ detail }: CustomEvent<string>) => this.#remove(detail)}
          @svc-sort=${({ detail }: CustomEvent<string | null>) => this.#go({ sort: detail })}
        ></svc-compare-table>
      </section>
      <svc-compare-charts
        .view=${this.#view}
        .runs=${visible}
        .metrics=${this.#metrics}
        .points=${new Map(this.#chosen.map(({ name }) => [name, this.#comparison.of(name)]))}
        @svc-view=${this.#onView}
        @svc-metrics=${({ detail }: CustomEvent<string[]>) => this.#go({ metrics: detail })}
      ></svc-compare-charts>
      <section class="panel">
        <svc-config-differences
          .runs=${this.#shown}
          .baseline=${baseline}
          ?all=${isAllConfig}
          @svc-config=${({ detail }: CustomEvent<boolean>) => this.#go({ isAllConfig: detail })}
        ></svc-config-differences>
      </section>
      <section class="panel">
        <svc-config-against-metric
          .runs=${visible}
          .metrics=${this.#metrics}
          .target=${target}
          .x=${x}
          .axes=${axes}
          .bestOf=${this.#bestOf}
          @svc-axes=${({ detail }: CustomEvent<AxesChoice>) => this.#go(detail)}
        ></svc-config-against-metric>
      </section>
    `;
  }

  #renderPending() {
    const { error } = this.#runs;
    if (!error) return html`<div class="panel"><svc-skeleton rows="6"></svc-skeleton></div>`;
    return html`<div class="panel">
      <svc-notice
        tone="danger"
        headline="The runs could not be loaded"
        action="Try again"
        @svc-action=${() => this.#runs.reload()}
        >${error.message}</svc-notice
      >
    </div>`;
  }

  #renderNone() {
    return html`<div class="panel">
      <svc-notice icon="runs" headline="None of these runs is there"
        ><a href=${paths.compare()}>Choose runs to compare</a></svc-notice
      >
    </div>`;
  }

  get #rankings() {
    return new Map(
      this.#chosen.flatMap(({ name, direction }) => {
        const ranking = this.#comparison.of(name)?.ranking;
        return direction && ranking ? [[name, ranking] as const] : [];
      }),
    );
  }

  /** As the table has it. */
  readonly #bestOf = (run: ShownRun, metric: string): number | null => {
    const entry = this.#rankings.get(metric)?.entries.find(({ run_id: id }) => id === run.id);
    if (entry && entry.best !== null) return fromMetricValue(entry.best);
    const own = run.summary.metrics[metric];
    return own ? fromMetricValue((own.best ?? own.latest).value) : null;
  };

  async #loadRuns(signal: AbortSignal): Promise<RunsRead> {
    const read = await readComparedRuns(this.api, runsIn(viewOf(this.#address).places), signal);
    const isLive = read.runs.some(({ run }) => run.status === 'RUNNING' || run.status === 'LOST');
    this.#runs.interval = isLive ? LIVE_POLL_MS : SLOW_POLL_MS;
    if (this.#runs.value && isLive) this.#comparison.refresh();
    return read;
  }

  #toggleHidden(id: string): void {
    const { hidden } = this.#view;
    this.#go({ hidden: hidden.includes(id) ? hidden.filter((one) => one !== id) : [...hidden, id] });
  }

  #remove(id: string): void {
    const { places, hidden, baseline } = this.#view;
    const asked = this.#shown.find((run) => run.id === id)?.asked;
    this.#go({
      places: withoutRuns(places, asked === undefined ? [] : [asked]),
      hidden: hidden.filter((one) => one !== id),
      baseline: baseline === id ? null : baseline,
    });
  }

  readonly #onView = (event: Event): void => {
    const { changes, way } = (event as CustomEvent<ChartsChange>).detail;
    this.#address.set(changes, way);
  };

  #go(change: CompareChange): void {
    this.#address.set(queryOf(change), 'push');
  }
}
