import { consume } from '@lit/context';
import { LitElement, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import '../chart/svc-node-chart.js';
import { icon } from '../components/icons.js';
import { fact, renderPending } from '../components/record-parts.js';
import { describeRunner, describeSlots, joined, modelOf, percent } from '../components/slot-words.js';
import '../components/svc-copy.js';
import '../components/svc-filters.js';
import '../components/svc-node-actions.js';
import '../components/svc-processes-table.js';
import '../components/svc-slots-table.js';
import '../components/svc-stale.js';
import '../components/svc-status.js';
import '../components/svc-time.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import type { Job } from '../data/jobs.js';
import { formatBitRate, toNodeCharts } from '../data/node-charts.js';
import {
  getNode,
  getNodeSnapshot,
  listJobsOfNode,
  readLastNodeSeries,
  type NodeRecord,
  type NodeSeriesByName,
} from '../data/nodes.js';
import { formatBytes, formatMegabytes, plural } from '../format.js';
import { navigate, paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { labelStyles } from '../styles/label-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { nameTab } from '../tab-title.js';
import { nodePageStyles } from './node-page-styles.js';

const POINTS = 300;
const WINDOWS = [
  { value: '15m', label: '15 min', seconds: 900 },
  { value: null, label: '1 h', seconds: 3600 },
  { value: '6h', label: '6 h', seconds: 6 * 3600 },
  { value: '24h', label: '24 h', seconds: 86_400 },
  { value: '7d', label: '7 d', seconds: 7 * 86_400 },
  { value: '30d', label: '30 d', seconds: 30 * 86_400 },
] as const;

/** Facts that the page says in words of its own. */
const TOLD_FACTS = new Set(['cpu_count', 'cpu_model', 'ram_total_mb', 'disk_total_gb', 'os']);
const FACT_NAMES: Readonly<Record<string, string>> = { nvidia_driver: 'NVIDIA driver', cuda: 'CUDA' };

interface Past {
  readonly series: NodeSeriesByName;
  readonly range: readonly [number, number];
}

/** One node: its slots, what it does now and did before, who uses it, and the host itself. */
@customElement('svc-node-page')
export class SvcNodePage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property() nodeId = '';
  /** `window`: how far back the charts go. */
  @property({ attribute: false }) query = new URLSearchParams();

  readonly #node = new Loader(this, {
    load: (signal) => this.#readNode(signal),
    everyMs: 5000,
    isRecord: true,
  });
  readonly #snapshot = new Loader(this, {
    load: (signal) => getNodeSnapshot(this.api, this.nodeId, signal),
    everyMs: 5000,
    isRecord: true,
  });
  readonly #past = new Loader<Past>(this, {
    load: (signal) => this.#readPast(signal),
    everyMs: 10_000,
    isRecord: true,
  });
  readonly #jobs = new Loader(this, {
    load: (signal) => listJobsOfNode(this.api, this.nodeId, signal),
    everyMs: 15_000,
    isRecord: true,
  });
  #shownWindow: number | null = null;

  static override styles = [baseStyles, controlStyles, iconStyles, labelStyles, pageStyles, nodePageStyles];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      const { id } = this.#node.value ?? {};
      if (!events.some(({ node_id: nodeId, job_id: jobId }) => nodeId === id || this.#holds(jobId))) return;
      this.#node.refresh();
      this.#jobs.refresh();
      this.#snapshot.refresh();
    });
    this.addEventListener('svc-node-changed', () => this.#node.reload());
  }

  override willUpdate(): void {
    const { seconds } = this.#window;
    if (this.#shownWindow !== null && seconds !== this.#shownWindow) this.#past.reload();
    this.#shownWindow = seconds;
    // No more often than a point of the chart lasts.
    this.#past.interval = Math.min(300_000, Math.max(10_000, (seconds / POINTS) * 1000));
  }

  override render() {
    const node = this.#node.value;
    if (!node || this.#node.isDeleted || !(this.#past.value ?? this.#past.error))
      return renderPending(this.#node, 'node', paths.nodes());
    return html`
      ${this.#renderHead(node)}
      <svc-stale .error=${this.#node.error} @svc-retry=${() => this.#node.reload()}></svc-stale>
      ${this.#renderAbout(node)} ${this.#renderSlots(node)} ${this.#renderCharts()}
      <div class="columns">${this.#renderProcesses()} ${this.#renderJobs()}</div>
    `;
  }

  #renderHead(node: NodeRecord) {
    return html`<a class="crumb" href=${paths.nodes()}>${icon('left', 14)}Nodes</a>
      <header class="page-head">
        <h1>${node.name}</h1>
        <svc-status value=${node.status}></svc-status>
        <span class="id"
          ><code>${node.id}</code><svc-copy label="Copy the node's id" .text=${node.id}></svc-copy
        ></span>
        <div class="actions">
          <a class="button" href=${paths.events({ node_id: node.id })}>Events</a>
          <svc-node-actions in-palette .node=${node}></svc-node-actions>
        </div>
      </header>`;
  }

  #renderAbout(node: NodeRecord) {
    const { system, labels, runners, slots } = node;
    return html`<section class="panel about" aria-label="About the node">
      <dl class="facts">
        ${slots.length === 0 ? nothing : fact('GPUs', describeSlots(node))}
        ${fact('Jobs without GPU', `${node.cpu_jobs} of ${node.max_cpu_jobs}`)} ${this.#renderLive(node)}
        ${fact('Heartbeat', html`<svc-time .from=${node.last_heartbeat_at}></svc-time>`)}
        ${fact('Connected', html`<svc-time .from=${node.connected_at}></svc-time>`)}
        ${fact('Host', node.hostname)} ${fact('Agent', node.version)}
        ${fact('Processor', joined([system.cpu_model, plural(system.cpu_count, 'core')]), 'wide')}
        ${system.os ? fact('System', system.os, 'wide') : nothing}
        ${Object.entries(system).map(([name, value]) => (TOLD_FACTS.has(name) ? nothing : renderFact(name, value)))}
      </dl>
      <div class="labels">
        ${Object.entries(labels).map(([name, value]) => html`<span class="label" title="Label">${name}=${value}</span>`)}
        ${runners.map((runner) => (runner.available ? html`<span class="label" title="Runner">${describeRunner(runner)}</span>` : html`<span class="problem">${icon('warning', 14)} ${runner.name}: ${runner.reason ?? 'not available'}</span>`))}
      </div>
    </section>`;
  }

  /** What was measured last; the space of what was not stays. */
  #renderLive({ live, system }: NodeRecord) {
    const { disk_total_gb: diskGb = null } = system;
    const bytes = (gb: number | null | undefined) => known(gb, (value) => formatBytes(value * 1e9));
    const ram = known(live?.ram_used_mb, formatMegabytes);
    const received = known(live?.net_rx_bps, formatBitRate) ?? '–';
    const sent = known(live?.net_tx_bps, formatBitRate) ?? '–';
    return html`
      ${fact('CPU', percent(live?.cpu_util) ?? '–')}
      ${fact('Memory used', ofTotal(ram, formatMegabytes(system.ram_total_mb)))}
      ${fact('Disk free', ofTotal(bytes(live?.disk_free_gb), bytes(diskGb)))}
      ${fact('Network', `${received} in, ${sent} out`)}
    `;
  }

  #renderSlots(node: NodeRecord) {
    if (node.slots.length === 0) return nothing;
    return html`<section class="panel" aria-labelledby="slots">
      <div class="panel-head">
        <h2 id="slots">GPU slots</h2>
        <span class="quiet">${modelOf(node)}</span>
      </div>
      <svc-slots-table .node=${node} .jobs=${this.#jobsById}></svc-slots-table>
    </section>`;
  }

  #renderCharts() {
    const past = this.#past.value;
    const charts = past ? toNodeCharts(past.series) : [];
    return html`<section aria-labelledby="charts">
      <div class="charts-head">
        <h2 id="charts">Over time</h2>
        <svc-filters
          label="How far back"
          .choices=${WINDOWS}
          .value=${this.#window.value}
          @svc-filter=${({ detail }: CustomEvent<string | null>) =>
            navigate(paths.node(this.nodeId, { window: detail }))}
        ></svc-filters>
      </div>
      <svc-stale .error=${past ? this.#past.error : null} @svc-retry=${() => this.#past.reload()}></svc-stale>
      ${charts.length === 0 ? html`<p class="panel empty">${this.#sayNoCharts()}</p>` : nothing}
      <div class="charts">
        ${repeat(
          charts,
          ({ heading }) => heading,
          ({ heading, lines, top, format, isBinary }) =>
            html`<div class="panel">
              <svc-node-chart
                heading=${heading}
                .lines=${lines}
                .range=${past!.range}
                .top=${top}
                .format=${format}
                ?binary=${isBinary}
                syncKey="node"
              ></svc-node-chart>
            </div>`,
        )}
      </div>
    </section>`;
  }

  #sayNoCharts(): string {
    const { error, value } = this.#past;
    if (!value && error) return `The charts could not be loaded. ${error.message}`;
    return `Nothing was measured in the last ${this.#window.label}. An agent measures every few seconds while it is connected.`;
  }

  #renderProcesses() {
    const snapshot = this.#snapshot.value;
    if (!snapshot) return html`<div></div>`;
    const { processes, host_processes: ofHost } = snapshot;
    const foreign = processes.filter(({ job_id: jobId }) => jobId === null).length;
    const none = snapshot.ts === null ? 'Nothing was measured in the last minute.' : 'No process uses a GPU.';
    return html`<div class="column">
      <section class="panel" aria-labelledby="gpu-processes">
        <div class="panel-head">
          <h2 id="gpu-processes">Processes on GPUs</h2>
          ${foreign === 0 ? nothing : html`<span class="problem">${icon('foreign', 14)} ${foreign} foreign</span>`}
        </div>
        ${
          processes.length === 0
            ? html`<p class="empty">${none}</p>`
            : html`<svc-processes-table
                label="Processes on GPUs"
                .processes=${processes}
                .jobs=${this.#jobsById}
              ></svc-processes-table>`
        }
      </section>
      ${
        ofHost.length === 0
          ? nothing
          : html`<section class="panel" aria-labelledby="host-processes">
              <div class="panel-head"><h2 id="host-processes">Processes of the host that take most</h2></div>
              <svc-processes-table
                label="Processes of the host"
                .processes=${ofHost}
                .jobs=${this.#jobsById}
              ></svc-processes-table>
            </section>`
      }
    </div>`;
  }

  #renderJobs() {
    const jobs = this.#jobs.value ?? [];
    return html`<section class="panel" aria-labelledby="jobs">
      <div class="panel-head"><h2 id="jobs">Latest jobs here</h2></div>
      ${
        jobs.length === 0
          ? html`<p class="empty">
              ${this.#jobs.value ? 'No job has run here yet.' : (this.#jobs.error?.message ?? ' ')}
            </p>`
          : html`<ul class="jobs">
              ${repeat(
                jobs,
                ({ id }) => id,
                ({ id, name, status, gpu_indices: gpus, started_at: from, finished_at: to }) =>
                  html`<li>
                    <svc-status value=${status}></svc-status>
                    <a class="truncate" href=${paths.job(id)} title=${name}>${name}</a>
                    <span class="quiet">${gpus.length > 0 ? `GPU ${gpus.join(', ')}` : 'CPU'}</span>
                    <svc-time class="quiet" elapsed .from=${from} .to=${to}></svc-time>
                  </li>`,
              )}
            </ul>`
      }
    </section>`;
  }

  get #window(): (typeof WINDOWS)[number] {
    const wanted = this.query.get('window');
    return WINDOWS.find(({ value }) => value === wanted) ?? WINDOWS[1];
  }

  get #jobsById(): ReadonlyMap<string, Job> {
    return new Map((this.#jobs.value ?? []).map((job) => [job.id, job]));
  }

  #holds(jobId: string | null): boolean {
    return jobId !== null && (this.#node.value?.slots.some((slot) => slot.job_id === jobId) ?? false);
  }

  async #readNode(signal: AbortSignal): Promise<NodeRecord> {
    const node = await getNode(this.api, this.nodeId, signal);
    nameTab(node.name);
    return node;
  }

  async #readPast(signal: AbortSignal): Promise<Past> {
    const { seconds } = this.#window;
    const series = await readLastNodeSeries(this.api, this.nodeId, seconds, POINTS, signal);
    const now = this.api.now();
    return { series, range: [now - seconds * 1000, now] };
  }
}

/** What a collector says of the host, under its own name. */
function renderFact(name: string, value: unknown) {
  if (value === undefined || value === null) return nothing;
  return fact(FACT_NAMES[name] ?? name, typeof value === 'object' ? JSON.stringify(value) : String(value));
}

function ofTotal(part: string | null, total: string | null): string {
  return total === null ? (part ?? '–') : `${part ?? '–'} of ${total}`;
}

function known(value: number | null | undefined, format: (value: number) => string): string | null {
  return value === null || value === undefined ? null : format(value);
}
