import { consume } from '@lit/context';
import { LitElement, html, nothing, type TemplateResult } from 'lit';
import { customElement, property, query as find, state } from 'lit/decorators.js';
import { agentCommands, renderAgentSteps } from '../components/agent-steps.js';
import { icon } from '../components/icons.js';
import '../components/svc-activities.js';
import '../components/svc-breakages.js';
import '../components/svc-code.js';
import '../components/svc-events-list.js';
import '../components/svc-gpu-grid.js';
import '../components/svc-notice.js';
import '../components/svc-queue.js';
import '../components/svc-skeleton.js';
import '../components/svc-stale.js';
import '../components/svc-time.js';
import { stateOfSlot } from '../components/slot-words.js';
import { ListController } from '../controllers/list.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import {
  countBreakages,
  readBreakageNews,
  tellsOfBreakage,
  toBreakages,
  type Breakage,
} from '../data/breakages.js';
import type { Whoami } from '../data/auth.js';
import { apiContext, whoContext } from '../data/contexts.js';
import type { EventRecord } from '../data/event-list.js';
import { listEvents } from '../data/events.js';
import type { Job } from '../data/jobs.js';
import { listNodes, sortByName, type NodeRecord } from '../data/nodes.js';
import {
  readFreeRuns,
  readQueue,
  readStarting,
  readSummaries,
  runIdOf,
  toActivities,
  type Activity,
} from '../data/overview.js';
import { getStatus, type ServiceStatus } from '../data/service.js';
import { markSeen, noteVisit, type Visit } from '../data/visit.js';
import { formatCount, plural } from '../format.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { overviewPageStyles } from './overview-page-styles.js';

const MOST_RUNNING = 10;
const MOST_WAITING = 6;
const MOST_BROKEN = 5;
const MOST_EVENTS = 8;

/** Jobs and runs as they are now. */
interface Work {
  readonly status: ServiceStatus;
  readonly queue: readonly Job[];
  readonly activities: readonly Activity[];
}

/** Everything at once: what runs, what waits and why, what broke since the last visit, the GPUs, the latest events. */
@customElement('svc-overview-page')
export class SvcOverviewPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  /** `broken=all`: all that broke is shown. */
  @property({ attribute: false }) query = new URLSearchParams();
  @state() private visit: Visit | null = null;
  @find('#broken') private readonly brokenHeading!: HTMLElement | null;

  readonly #work = new Loader<Work>(this, { load: (signal) => this.#readWork(signal), everyMs: 10_000 });
  readonly #summaries = new Loader(this, {
    load: (signal) => readSummaries(this.api, this.#shownRunIds, signal),
    everyMs: 5000,
  });
  readonly #nodes = new Loader(this, { load: (signal) => this.#readNodes(signal), everyMs: 5000 });
  readonly #events = new ListController<EventRecord>(this, {
    question: () => '',
    read: async (_, signal) => {
      const items = await listEvents(this.api, { limit: MOST_EVENTS, names: true }, signal);
      return { items, hasMore: false, isCut: false };
    },
    everyMs: 30_000,
  });
  /** Behind the others: these are many requests, and a browser has six connections. */
  readonly #news = new Loader(this, {
    load: (signal) => readBreakageNews(this.api, signal),
    everyMs: 60_000,
  });

  static override styles = [baseStyles, controlStyles, iconStyles, pageStyles, overviewPageStyles];

  constructor() {
    super();
    new LiveEvents(this, (events) => this.#onEvents(events));
  }

  override render() {
    return html`
      <header class="page-head">
        <h1>Overview</h1>
        <p class="summary">${this.#summary}</p>
      </header>
      ${this.#renderBody()}
    `;
  }

  get #summary(): string {
    const status = this.#work.value?.status;
    const nodes = this.#nodes.value;
    if (!status || !nodes || status.nodes.total === 0) return '';
    const states = nodes.flatMap((node) => node.slots.map((slot) => stateOfSlot(node, slot).name));
    const free = states.filter((name) => name === 'free').length;
    const gpus = states.length === 0 ? [] : [`${formatCount(free)} of ${plural(states.length, 'GPU')} free`];
    const { online, total } = status.nodes;
    return [...gpus, `${formatCount(online)} of ${plural(total, 'node')} online`].join(' · ');
  }

  /** All parts appear together: one that came later would move what is read. */
  #renderBody() {
    const work = this.#work.value;
    const nodes = this.#nodes.value;
    const failed = this.#work.error ?? this.#nodes.error;
    const isReady = work && nodes && this.#events.view.phase !== 'loading';
    if (!isReady) return failed ? this.#renderFailure(failed.message) : this.#renderLoading();
    if (this.#isNew(work)) return this.#renderFirstSteps(work.status);
    if (!this.#news.value && !this.#news.error) return this.#renderLoading();
    return html`
      <svc-stale .error=${failed ?? this.#summaries.error} @svc-retry=${() => this.#retry()}></svc-stale>
      ${this.#renderBroken()}
      <div class="columns">
        <div class="column">${this.#renderRunning(work)} ${this.#renderWaiting(work)}</div>
        ${this.#renderGpus()} ${this.#renderEvents()}
      </div>
    `;
  }

  /** No job and no run has been here. */
  #isNew({ status, activities }: Work): boolean {
    const hasJobs = Object.values(status.jobs).some((count) => count > 0);
    const events = this.#events.view.items;
    return !hasJobs && activities.length === 0 && !events.some(({ run_id: runId }) => runId !== null);
  }

  #renderLoading() {
    return html`<div class="panel"><svc-skeleton rows="8"></svc-skeleton></div>`;
  }

  #renderFailure(message: string) {
    return html`<svc-notice
      tone="danger"
      headline="The overview could not be loaded"
      action="Try again"
      @svc-action=${() => this.#retry()}
      >${message}</svc-notice
    >`;
  }

  #renderFirstSteps({ nodes }: ServiceStatus) {
    const canWrite = this.who?.can_write ?? false;
    const hasNode = nodes.total > 0;
    const steps: [title: string, isDone: boolean, text: TemplateResult, commands: string[]][] = [
      [
        'Start an agent on a host with GPUs',
        hasNode,
        html`${renderAgentSteps(canWrite)} For this host alone, svc up starts both.`,
        agentCommands(),
      ],
      [
        'Submit a first job',
        false,
        html`It is queued, gets its GPU, and appears here with its log and its curves.
          ${canWrite ? html`<a href=${paths.newJob()}>Submit a job</a> here, or in a terminal` : 'In a terminal it is submitted so'}
          (where svc does not find this server, <code>svc login ${window.location.origin}</code> comes first):`,
        ['svc submit --follow -- python3 train.py'],
      ],
    ];
    return html`<section class="panel first" aria-labelledby="first">
      <h2 id="first">Nothing has run here yet</h2>
      <ol>
        ${steps.map(
          ([title, isDone, text, commands], at) =>
            html`<li>
              <h3>
                <span class="number">${isDone ? icon('check', 14) : at + 1}</span
                ><span
                  >${title}${isDone ? html` <span class="done">done: <a href=${paths.nodes()}>${plural(nodes.total, 'node')}</a></span>` : nothing}</span
                >
              </h3>
              ${isDone ? nothing : html`<p>${text}</p>`}
              ${isDone ? nothing : commands.map((command) => html`<svc-code .text=${command}></svc-code>`)}
            </li>`,
        )}
      </ol>
    </section>`;
  }

  #renderBroken() {
    const { visit } = this;
    const news = this.#news.value;
    if (!visit) return nothing;
    if (!news) return this.#renderBrokenLine('warning', 'What broke could not be loaded.');
    const breakages = toBreakages(news.events, visit.since);
    const since = visit.isFirst
      ? html`in the last 24 hours`
      : html`since your last visit, <svc-time .from=${visit.since}></svc-time>`;
    if (breakages.length === 0) return this.#renderBrokenLine('check', html`Nothing broke ${since}.`);
    const isCut = news.knownFrom !== null && news.knownFrom > visit.since;
    return html`<section class="panel broken" aria-labelledby="broken">
      <div class="panel-head">
        ${icon('warning')}
        <h2 id="broken" tabindex="-1">${countBreakages(breakages)}${isCut ? ', and more' : ''} ${since}</h2>
        <button class="button plain" @click=${() => void this.#markSeen()}>Mark as seen</button>
      </div>
      ${this.#renderBreakages(breakages)}
    </section>`;
  }

  #renderBrokenLine(shape: 'check' | 'warning', text: TemplateResult | string) {
    return html`<p id="broken" class="fine ${shape}" tabindex="-1">
      ${icon(shape, 14)}<span>${text}</span>
    </p>`;
  }

  #renderBreakages(breakages: readonly Breakage[]) {
    const isWhole = this.query.get('broken') === 'all';
    const shown = isWhole ? breakages : breakages.slice(0, MOST_BROKEN);
    const more = isWhole
      ? html`<a class="more" href=${paths.overview()}>Show fewer</a>`
      : html`<a class="more" href=${paths.overview({ broken: 'all' })}
          >Show all ${formatCount(breakages.length)}</a
        >`;
    return html`<svc-breakages .breakages=${shown} .nodes=${this.#nodes.value ?? []}></svc-breakages>
      ${breakages.length > MOST_BROKEN ? more : nothing}`;
  }

  #renderRunning({ status, activities }: Work) {
    const known = activities.length;
    const count = Math.max(known, status.jobs.RUNNING + status.jobs.DISPATCHING);
    const hasFreeRuns = activities.some(({ job }) => job === null);
    return this.#renderList({
      id: 'running',
      title: 'Running',
      count,
      empty: 'Nothing runs now.',
      items: html`<svc-activities
        .activities=${activities.slice(0, MOST_RUNNING)}
        .summaries=${this.#summaries.value ?? new Map()}
        .nodes=${this.#nodes.value ?? []}
      ></svc-activities>`,
      more: count > MOST_RUNNING ? (hasFreeRuns ? paths.runs : paths.jobs)({ status: 'RUNNING' }) : null,
    });
  }

  #renderWaiting({ status, queue }: Work) {
    const count = Math.max(queue.length, status.jobs.QUEUED);
    return this.#renderList({
      id: 'waiting',
      title: 'Waiting',
      count,
      empty: 'No job waits.',
      items: html`<svc-queue .jobs=${queue.slice(0, MOST_WAITING)}></svc-queue>`,
      more: count > MOST_WAITING ? paths.jobs({ status: 'QUEUED' }) : null,
    });
  }

  #renderList(list: {
    id: string;
    title: string;
    count: number;
    empty: string;
    items: TemplateResult;
    more: string | null;
  }) {
    const { id, title, count, empty, items, more } = list;
    return html`<section class="panel" aria-labelledby=${id}>
      <div class="panel-head">
        <h2 id=${id}>${title}</h2>
        <span class="count">${formatCount(count)}</span>
      </div>
      ${count === 0 ? html`<p class="empty">${empty}</p>` : items}
      ${more === null ? nothing : html`<a class="more" href=${more}>Show all ${formatCount(count)}</a>`}
    </section>`;
  }

  #renderEvents() {
    const { items, phase, error } = this.#events.view;
    const isEmpty = items.length === 0;
    return html`<section class="panel events" aria-labelledby="events">
      <div class="panel-head">
        <h2 id="events">Latest events</h2>
        <a href=${paths.events()}>All events</a>
      </div>
      ${
        isEmpty
          ? html`<p class="empty">
              ${phase === 'failed' ? error?.message : phase === 'ready' ? 'No events yet.' : ' '}
            </p>`
          : html`<svc-events-list compact .events=${items.slice(0, MOST_EVENTS)}></svc-events-list>`
      }
    </section>`;
  }

  #renderGpus() {
    const nodes = sortByName(this.#nodes.value ?? []);
    const without = nodes.filter(({ slots }) => slots.length === 0).length;
    const hasSlots = without < nodes.length;
    return html`<section class="panel gpus" aria-labelledby="gpus">
      <div class="panel-head">
        <h2 id="gpus">GPUs</h2>
        ${without > 0 && hasSlots ? html`<span class="count">${plural(without, 'node')} without GPUs</span>` : nothing}
        <a href=${paths.nodes()}>All nodes</a>
      </div>
      ${hasSlots ? html`<svc-gpu-grid .nodes=${nodes} .jobs=${this.#jobsById}></svc-gpu-grid>` : html`<p class="empty">${this.#sayNoGpus(nodes.length)}</p>`}
    </section>`;
  }

  #sayNoGpus(nodes: number): string {
    if (nodes === 0) return 'No node has connected yet. The page of the nodes says how to start an agent.';
    return `${nodes === 1 ? 'The node has' : 'The nodes have'} no GPUs; jobs that need none run there.`;
  }

  get #jobsById(): ReadonlyMap<string, Job> {
    return new Map(this.#work.value?.activities.flatMap(({ job }) => (job ? [[job.id, job]] : [])) ?? []);
  }

  get #shownRunIds(): string[] {
    const shown = this.#work.value?.activities.slice(0, MOST_RUNNING) ?? [];
    return shown.flatMap((activity) => runIdOf(activity) ?? []);
  }

  async #readWork(signal: AbortSignal): Promise<Work> {
    const [status, runs] = await Promise.all([getStatus(this.api, signal), readFreeRuns(this.api, signal)]);
    const [queue, starting] = await Promise.all([
      status.jobs.QUEUED > 0 ? readQueue(this.api, signal) : [],
      status.jobs.DISPATCHING > 0 ? readStarting(this.api, signal) : [],
    ]);
    this.visit = noteVisit(this.api.now());
    this.#summaries.refresh();
    return { status, queue, activities: toActivities([...status.running, ...starting], runs) };
  }

  /** Why jobs wait and how many nodes are online depends on which nodes are there. */
  async #readNodes(signal: AbortSignal): Promise<NodeRecord[]> {
    const before = this.#nodes.value;
    const nodes = await listNodes(this.api, signal);
    if (before && sayPresence(before) !== sayPresence(nodes)) this.#work.refresh();
    return nodes;
  }

  #onEvents(events: EventRecord[]): void {
    this.#events.add(events);
    if (events.some(({ job_id: job, run_id: run }) => job ?? run)) this.#work.refresh();
    if (events.some(({ job_id: job, node_id: node }) => job ?? node)) this.#nodes.refresh();
    if (events.some(tellsOfBreakage)) this.#news.refresh();
  }

  #retry(): void {
    this.#work.reload();
    this.#summaries.reload();
    this.#nodes.reload();
    this.#news.reload();
  }

  /** The button goes away: the focus moves to what takes its place. */
  async #markSeen(): Promise<void> {
    this.visit = markSeen(this.api.now());
    await this.updateComplete;
    this.brokenHeading?.focus();
  }
}

/** The same text for the same nodes in the same states, whatever was measured of them. */
function sayPresence(nodes: readonly NodeRecord[]): string {
  return nodes
    .map(({ id, status, connected_at: since }) => `${id} ${status} ${since}`)
    .sort()
    .join();
}
