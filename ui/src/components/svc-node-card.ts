import { consume } from '@lit/context';
import type { Job, NodeRecord } from '@svc/contract';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { toApiError, type Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { apiContext, whoContext } from '../data/contexts.js';
import { drainNode, undrainNode } from '../data/nodes.js';
import { formatBytes, formatMegabytes, plural, shortId } from '../format.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { icon } from './icons.js';
import { fact } from './record-parts.js';
import './svc-status.js';
import './svc-time.js';
import { toast } from './svc-toasts.js';

type Slot = NodeRecord['slots'][number];

/** A node: its state, its GPU slots and who holds them, and the host under it. */
@customElement('svc-node-card')
export class SvcNodeCard extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @property({ attribute: false }) node!: NodeRecord;
  /** Jobs that run now, to name the holders of slots. */
  @property({ attribute: false }) running: readonly Job[] = [];
  @state() private isBusy = false;

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    css`
      :host {
        display: grid;
        align-content: start;
        border: 1px solid var(--color-line);
        border-radius: var(--radius-lg);
        background: var(--color-surface);
      }
      header {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-1) var(--space-3);
        padding: var(--space-3) var(--space-4);
      }
      h2 {
        font-size: var(--text-lg);
        overflow-wrap: anywhere;
      }
      .beat {
        margin-left: auto;
        color: var(--color-text-3);
        font-size: var(--text-xs);
      }
      .use {
        display: flex;
        flex-wrap: wrap;
        align-items: baseline;
        gap: 0 var(--space-2);
        padding: 0 var(--space-4) var(--space-2);
        color: var(--color-text-2);
        font-size: var(--text-sm);
      }
      .use b {
        color: var(--color-text);
        font-weight: var(--weight-strong);
      }
      .model {
        margin-left: auto;
        color: var(--color-text-3);
        font-size: var(--text-xs);
      }
      .slots {
        display: grid;
        grid-template-columns: repeat(auto-fill, minmax(min(8rem, 100%), 1fr));
        gap: var(--space-2);
        padding: 0 var(--space-4) var(--space-4);
      }
      .slot {
        position: relative;
        display: grid;
        gap: 1px;
        min-width: 0;
        padding: var(--space-2) var(--space-3);
        border: 1px dashed var(--color-line-strong);
        border-radius: var(--radius-md);
        font-size: var(--text-xs);
      }
      .slot.busy {
        border: 1px solid transparent;
        background: var(--color-accent-soft);
      }
      .slot.troubled {
        grid-column: span 2;
        border: 1px solid var(--color-warning);
      }
      .reason {
        overflow-wrap: anywhere;
        color: var(--color-text-2);
      }
      .slot p {
        display: flex;
        gap: var(--space-2);
        justify-content: space-between;
      }
      .index {
        font-weight: var(--weight-strong);
      }
      .slot .who {
        color: var(--color-text-2);
      }
      .slot a::after {
        content: '';
        position: absolute;
        inset: 0;
      }
      .slot a {
        font-weight: var(--weight-medium);
      }
      dl {
        display: grid;
        grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr));
        gap: var(--space-2) var(--space-4);
        padding: var(--space-3) var(--space-4);
        border-top: 1px solid var(--color-line);
        font-size: var(--text-sm);
      }
      dt {
        color: var(--color-text-3);
        font-size: var(--text-xs);
      }
      dd {
        overflow-wrap: anywhere;
      }
      .foot {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-1);
        padding: var(--space-2) var(--space-4);
        border-top: 1px solid var(--color-line);
        font-size: var(--text-xs);
      }
      .label {
        padding: 1px var(--space-2);
        border-radius: var(--radius-sm);
        background: var(--color-neutral-soft);
        color: var(--color-text-2);
        font-family: var(--font-mono);
        overflow-wrap: anywhere;
      }
      .problem {
        color: var(--color-warning);
      }
      .foot .button {
        margin-left: auto;
        --control-height: 1.75rem;
      }
    `,
  ];

  override render() {
    const { node } = this;
    return html`
      <header>
        <h2 title=${node.id}>${node.name}</h2>
        <svc-status value=${node.status}></svc-status>
        <span class="beat">heartbeat <svc-time .from=${node.last_heartbeat_at}></svc-time></span>
      </header>
      ${this.#renderUse()} ${node.slots.length > 0 ? this.#renderSlots() : nothing} ${this.#renderSystem()}
      ${this.#renderFoot()}
    `;
  }

  #renderUse() {
    const { slots, cpu_jobs: cpuJobs, max_cpu_jobs: maxCpuJobs } = this.node;
    const busy = slots.filter((slot) => slot.busy).length;
    return html`<p class="use">
      ${slots.length > 0 ? html`<span><b>${busy}</b> of ${plural(slots.length, 'GPU')} busy</span><span class="quiet">·</span>` : nothing}
      <span><b>${cpuJobs}</b> of ${plural(maxCpuJobs, 'CPU job')}</span>
      <span class="model">${this.#model}</span>
    </p>`;
  }

  #renderSlots() {
    return html`<ul class="slots" aria-label="GPU slots">
      ${this.node.slots.map((slot) => this.#renderSlot(slot))}
    </ul>`;
  }

  #renderSlot(slot: Slot) {
    const { state, reason } = slot.health;
    const isOk = state === 'ok';
    const use = slot.busy ? 'busy' : this.node.status === 'OFFLINE' ? 'offline' : isOk ? 'free' : '';
    return html`<li
      class="slot ${use} ${isOk ? '' : 'troubled'}"
      title="${describeDevice(slot)} · ${slot.uuid}"
    >
      <p>
        <span class="index">GPU ${slot.index}</span
        >${use === '' ? nothing : html`<span class="who">${use}</span>`}${isOk ? nothing : html`<span class="problem">${icon('warning', 12)} ${state}</span>`}
      </p>
      ${
        slot.job_id
          ? html`<a class="truncate" href=${paths.job(slot.job_id)}>${this.#nameJob(slot.job_id)}</a>`
          : html`<span class="quiet truncate"
              >${this.#model === '' ? describeDevice(slot) : html`&nbsp;`}</span
            >`
      }
      ${isOk ? nothing : html`<span class="reason">It ${reason ?? 'gives no reason'}.</span>`}
    </li>`;
  }

  #renderSystem() {
    const { system, version, hostname } = this.node;
    return html`<dl>
      ${fact('Host', hostname)}
      ${fact('CPU', `${plural(system.cpu_count, 'core')}${system.cpu_model ? ` · ${system.cpu_model}` : ''}`)}
      ${fact('Memory', formatMegabytes(system.ram_total_mb))}
      ${system.disk_total_gb === undefined ? nothing : fact('Disk', formatBytes(system.disk_total_gb * 1e9))}
      ${system.os ? fact('System', system.os) : nothing} ${fact('Agent', version)}
    </dl>`;
  }

  #renderFoot() {
    const { labels, runners, status } = this.node;
    const missing = runners.filter((runner) => !runner.available);
    return html`<div class="foot">
      ${Object.entries(labels).map(([name, value]) => html`<span class="label">${name}=${value}</span>`)}
      ${runners.filter((runner) => runner.available).map(({ name, version }) => html`<span class="label" title="Runner">${name}${version ? ` ${version}` : ''}</span>`)}
      ${missing.map(({ name, reason }) => html`<span class="problem">${icon('warning', 12)} ${name}: ${reason ?? 'not available'}</span>`)}
      ${this.who?.can_write && status !== 'OFFLINE' ? this.#renderDrain() : nothing}
    </div>`;
  }

  #renderDrain() {
    const isDraining = this.node.status === 'DRAINING';
    const hint = isDraining
      ? 'Let the node take jobs again'
      : 'Let running jobs finish and start no new ones here';
    return html`<button
      class="button plain"
      title=${hint}
      ?disabled=${this.isBusy}
      @click=${() => void this.#toggleDrain(isDraining)}
    >
      ${isDraining ? 'Undrain' : 'Drain'}
    </button>`;
  }

  /** The one kind of device that all slots stand for; empty when they differ. */
  get #model(): string {
    const models = new Set(this.node.slots.map(describeDevice));
    return models.size === 1 ? [...models][0]! : '';
  }

  #nameJob(jobId: string): string {
    return this.running.find((job) => job.id === jobId)?.name ?? `Job ${shortId(jobId)}`;
  }

  async #toggleDrain(isDraining: boolean): Promise<void> {
    const { id, name } = this.node;
    this.isBusy = true;
    try {
      await (isDraining ? undrainNode(this.api, id) : drainNode(this.api, id));
      toast(
        isDraining
          ? `${name} takes jobs again.`
          : `${name} is draining: running jobs finish, new ones start elsewhere.`,
      );
    } catch (error) {
      toast(toApiError(error).message, { isError: true });
    }
    this.isBusy = false;
    this.dispatchEvent(new CustomEvent('svc-node-changed', { bubbles: true }));
  }
}

function describeDevice({ model, memory_total_mb: memory, virtual }: Slot): string {
  const parts = [model, memory === null ? '' : formatMegabytes(memory), virtual ? 'virtual, no device' : ''];
  return parts.filter(Boolean).join(' · ');
}
