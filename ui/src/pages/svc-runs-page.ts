import { consume } from '@lit/context';
import type { Run } from '@svc/contract';
import { RUN_STATUSES } from '@svc/contract/protocol';
import { LitElement, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { placesOf, renderCell, type RunTableContext } from '../components/run-cells.js';
import '../components/svc-column-picker.js';
import type { SvcColumnPicker } from '../components/svc-column-picker.js';
import { renderNoRuns } from '../components/no-runs.js';
import { createContext, isLowBetter, toSections } from '../components/run-table-context.js';
import '../components/svc-run-filters.js';
import { withTag, type Places } from '../components/svc-run-filters.js';
import '../components/svc-list.js';
import '../components/svc-runs-table.js';
import { toast } from '../components/svc-toasts.js';
import { ListController, type ListView } from '../controllers/list.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import { RunValues } from '../controllers/run-values.js';
import { TypedSearch } from '../controllers/typed-search.js';
import { toApiError, type Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { flatRecord } from '../data/flat-record.js';
import { readRuns } from '../data/lists.js';
import { listMetricDefinitions } from '../data/metric-definitions.js';
import { listExperiments, listProjects } from '../data/projects.js';
import { getRun, type RunFilter } from '../data/runs.js';
import { formatCount, plural } from '../format.js';
import { navigate, paths } from '../paths.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { arrange, type Line } from '../table/arrange.js';
import { defaultColumns, isNumberColumn, metricsOf, toColumn, type Column } from '../table/columns.js';
import {
  describeSort,
  rememberColumns,
  rememberedColumns,
  sortText,
  toQuery,
  toView,
  toggled,
  type RunTableView,
} from '../table/run-table-view.js';
import { runsPageStyles } from './runs-page-styles.js';

const MAX_COMPARED = 50;
const NO_PLACES: Places = [[], []];
const MOST_RUNS = 10_000;
/** Of so many runs the config is looked at for what can be a column. */
const LOOKED_AT = 1000;

/** Runs in a table of chosen columns: filtered and sorted by the server, grouped here. The address has the whole state. */
@customElement('svc-runs-page')
export class SvcRunsPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) query = new URLSearchParams();
  @state() private isLoadingAll = false;
  @query('svc-column-picker') private readonly picker!: SvcColumnPicker;
  #parsed: { readonly of: URLSearchParams; readonly view: RunTableView } | null = null;
  readonly #search = new TypedSearch(this, {
    text: () => this.#filter.q ?? null,
    onRest: (q) => this.#filterBy({ q }, { replace: true }),
  });
  #inSight: readonly Run[] = [];
  /** Older runs could not be loaded: until someone asks again. */
  #isTired = false;
  #arranged: { readonly of: readonly unknown[]; readonly lines: readonly Line<Run>[] } = {
    of: [],
    lines: [],
  };
  #config: { readonly of: unknown; readonly keys: readonly string[] } = { of: null, keys: [] };

  readonly #runs = new ListController<Run>(this, {
    question: () => this.#question,
    read: (last, signal) => {
      const order = { sort: this.#sort, total: last === null ? true : null };
      return readRuns(this.api, { ...this.#filter, ...order }, last, signal);
    },
    isSorted: () => this.#sort !== null,
    readItem: (id) => this.#readRun(id),
    everyMs: 10_000,
  });
  readonly #values = new RunValues(this, () => this.api);
  readonly #places = new Loader(this, {
    load: (signal) => Promise.all([listProjects(this.api, signal), listExperiments(this.api, signal)]),
    everyMs: 60_000,
  });
  readonly #definitions = new Loader(this, {
    load: (signal) => {
      const { project_id, experiment_id } = this.#filter;
      const level = { project_id: project_id ?? null, experiment_id: experiment_id ?? null };
      return listMetricDefinitions(this.api, level, signal);
    },
    everyMs: 60_000,
  });

  static override styles = [baseStyles, controlStyles, pageStyles, runsPageStyles];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      if (!events.some((event) => event.run_id || event.job_id)) return;
      this.#runs.refreshItems(new Set(events.flatMap((event) => event.run_id ?? [])));
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.isLoadingAll = false;
  }

  override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('query');
    const isElsewhere = ['project_id', 'experiment_id'].some(
      (name) => before?.get(name) !== this.query.get(name),
    );
    if (before && isElsewhere) this.#definitions.refresh();
  }

  override updated(): void {
    this.#wantValues();
    this.#takeRemembered();
  }

  override render() {
    const { view } = this.#runs;
    return html`
      <header class="page-head">
        <h1>Runs</h1>
        ${this.#renderOrder(view)}
        <input
          class="input search"
          type="search"
          aria-label="Search runs by name or id"
          placeholder="Search by name or id"
          spellcheck="false"
          maxlength="200"
          .value=${live(this.#search.text)}
          @input=${this.#search.onInput}
        />
      </header>
      <svc-run-filters
        .view=${this.#view}
        .runs=${view.items.slice(0, LOOKED_AT)}
        .configKeys=${this.#configKeys}
        .places=${this.#places.value ?? NO_PLACES}
        .columnCount=${this.#columns.length}
        @svc-view=${(event: CustomEvent<Partial<RunTableView>>) => this.#go(event.detail)}
        @svc-pick-columns=${() => this.picker.open()}
      ></svc-run-filters>
      <svc-list noun="run" .view=${this.#toShown(view)} .renderItems=${() => this.#renderTable(view)}
        >${renderNoRuns(Object.values(this.#filter).some(Boolean))}</svc-list
      >
      <svc-column-picker
        .sections=${toSections(this.#definitions.value ?? [], this.#configKeys)}
        .chosen=${this.#columns}
        @svc-columns=${(event: CustomEvent<readonly Column[] | null>) => this.#onColumns(event.detail)}
      ></svc-column-picker>
    `;
  }

  get #view(): RunTableView {
    if (this.#parsed?.of !== this.query) this.#parsed = { of: this.query, view: toView(this.query) };
    return this.#parsed.view;
  }

  /** A status that there is not, which is said above the table, filters nothing. */
  get #filter(): RunFilter {
    const { filter } = this.#view;
    const status = RUN_STATUSES.find((one) => one === filter.status) ?? null;
    return { ...filter, status };
  }

  get #sort(): string | null {
    return this.#view.sort && sortText(this.#view.sort);
  }

  get #question(): string {
    return JSON.stringify([this.#filter, this.#sort]);
  }

  get #columns(): readonly Column[] {
    return this.#view.columns ?? rememberedColumns() ?? defaultColumns(this.#definitions.value ?? []);
  }

  /** How many there are, in which order, and of how many the groups are. */
  #renderOrder({ items, total = items.length, hasMore, phase }: ListView<Run>) {
    const { sort, group } = this.#view;
    if (phase !== 'ready' || items.length === 0) return nothing;
    const isPart = group !== null && hasMore && items.length < total;
    const which = isPart ? `the ${sort ? 'first' : 'newest'} ${formatCount(items.length)} of ` : '';
    const what = [
      sort && `sorted by ${describeSort(sort)}`,
      group && `${which ? `${which}them ` : ''}grouped`,
    ];
    return html`<p class="order" role="status">
      <span>${[plural(total, 'run'), ...what.filter(Boolean)].join(', ')}${this.#describeReading()}</span>
      ${isPart ? this.#renderLoadAll(items.length) : nothing}
    </p>`;
  }

  #describeReading(): string {
    return this.#values.error ? '. Their values could not be read; trying again' : '';
  }

  #renderLoadAll(count: number) {
    if (count >= MOST_RUNS) return html`<span>The others are left out: filter to see them.</span>`;
    if (this.isLoadingAll)
      return html`<button class="button" @click=${() => (this.isLoadingAll = false)}>Stop loading</button>`;
    return html`<button class="button" @click=${() => void this.#loadAll()}>Load all</button>`;
  }

  /** Older runs come by themselves; the list offers them when that has failed. */
  #toShown(view: ListView<Run>): ListView<Run> {
    const loadMore = (): Promise<void> => {
      this.#isTired = false;
      return view.loadMore();
    };
    return { ...view, hasMore: this.#isTired && view.hasMore, loadMore };
  }

  #renderTable(view: ListView<Run>) {
    const context = this.#context;
    return html`<svc-runs-table
      .lines=${this.#lines(view.items, context)}
      question=${JSON.stringify([this.#question, this.#view.group])}
      .columns=${this.#columns}
      .sort=${this.#view.sort}
      .selected=${new Set(this.#view.selected)}
      .renderCell=${(run: Run, column: Column) => renderCell(run, column, context)}
      @svc-sort=${(event: CustomEvent<string>) => this.#onSort(event.detail)}
      @svc-select=${(event: CustomEvent<string>) => this.#onSelect(event.detail)}
      @svc-group=${(event: CustomEvent<string>) => this.#onToggle(event.detail)}
      @svc-in-sight=${(event: CustomEvent<readonly Run[]>) => this.#onInSight(event.detail)}
      @svc-near-end=${() => void this.#loadNext(view)}
    ></svc-runs-table>`;
  }

  /** Arranged anew when something that matters to it has changed, and not with every frame. */
  #lines(items: readonly Run[], context: RunTableContext): readonly Line<Run>[] {
    const { group, closed } = this.#view;
    const groupBy = toColumn(group ?? '');
    const of = [items, JSON.stringify([group, closed]), this.#places.value];
    if (of.some((part, at) => part !== this.#arranged.of[at])) {
      const lines = arrange(items, {
        group: groupBy && ((run) => placesOf(run, groupBy, context)),
        closed: new Set(closed),
      });
      this.#arranged = { of, lines };
    }
    return this.#arranged.lines;
  }

  get #context(): RunTableContext {
    const [projects, experiments] = this.#places.value ?? NO_PLACES;
    return createContext({
      projects,
      experiments,
      definitions: this.#definitions.value ?? [],
      values: (run, metric) => this.#values.get(run.id, metric),
      now: () => this.api.now(),
      tagPath: (tag) => this.#pathOf({ filter: { ...this.#filter, tags: withTag(this.#filter.tags, tag) } }),
    });
  }

  get #configKeys(): readonly string[] {
    const { items } = this.#runs.view;
    if (this.#config.of !== items) {
      const keys = new Set(items.slice(0, LOOKED_AT).flatMap(({ config }) => [...flatRecord(config).keys()]));
      this.#config = { of: items, keys: [...keys].sort() };
    }
    return this.#config.keys;
  }

  /** null once the run is no longer of the status that is shown; events change no other part of the filter. */
  async #readRun(id: string): Promise<Run | null> {
    const run = await getRun(this.api, id).catch((error: unknown) => {
      // A run that has been deleted leaves the list.
      if (toApiError(error).status === 404) return null;
      throw error;
    });
    const { status } = this.#filter;
    return run === null || !status || run.status === status ? run : null;
  }

  async #loadNext(view: ListView<Run>): Promise<void> {
    if (this.#view.group !== null || !view.hasMore || this.#isTired) return;
    await this.#loadMore();
  }

  async #loadAll(): Promise<void> {
    this.isLoadingAll = true;
    this.#isTired = false;
    while (this.isLoadingAll && !this.#isTired && this.#runs.view.hasMore) {
      if (this.#runs.view.items.length >= MOST_RUNS) break;
      await this.#loadMore();
    }
    this.isLoadingAll = false;
  }

  async #loadMore(): Promise<void> {
    const { view } = this.#runs;
    if (view.isLoadingMore || view.phase !== 'ready') return;
    try {
      await view.loadMore();
    } catch (error) {
      this.#isTired = true;
      this.requestUpdate();
      toast(toApiError(error).message, { isError: true });
    }
  }

  #onInSight(runs: readonly Run[]): void {
    this.#inSight = runs;
    this.#wantValues();
  }

  #wantValues(): void {
    this.#values.want(metricsOf(this.#columns), this.#inSight);
  }

  /** What was chosen last in this browser stands in the address too, so that it can be handed on. */
  #takeRemembered(): void {
    const columns = rememberedColumns();
    if (this.#view.columns === null && columns !== null) this.#go({ columns }, { replace: true });
  }

  #onColumns(columns: readonly Column[] | null): void {
    rememberColumns(columns);
    this.#go({ columns }, { replace: true });
  }

  #onSort(by: string): void {
    const { sort } = this.#view;
    const column = toColumn(by);
    const startsHigh =
      column !== null && isNumberColumn(column) && !isLowBetter(column, this.#definitions.value ?? []);
    if (sort?.by !== by) return this.#go({ sort: { by, isDescending: startsHigh } });
    if (sort.isDescending === startsHigh) return this.#go({ sort: { by, isDescending: !startsHigh } });
    this.#go({ sort: null });
  }

  #onSelect(id: string): void {
    const selected = toggled(this.#view.selected, id);
    if (selected.length <= MAX_COMPARED) return this.#go({ selected }, { replace: true });
    toast(`At most ${MAX_COMPARED} runs can be compared. Deselect one first.`, { isError: true });
    // The box of the row shows again that it is not selected.
    this.requestUpdate();
  }

  #onToggle(key: string): void {
    this.#go({ closed: toggled(this.#view.closed, key) }, { replace: true });
  }

  #filterBy(change: { [K in keyof RunFilter]: string | null }, options = {}): void {
    this.#go({ filter: { ...this.#filter, ...change } as RunFilter }, options);
  }

  #go(change: Partial<RunTableView>, options: { replace?: boolean } = {}): void {
    navigate(this.#pathOf(change), options);
  }

  #pathOf(change: Partial<RunTableView>): string {
    return paths.runs(toQuery({ ...this.#view, ...change }));
  }
}
