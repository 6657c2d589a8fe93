import { LitElement, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import type { Job } from '../data/jobs.js';
import type { NodeRecord, Slot } from '../data/nodes.js';
import { formatCount } from '../format.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles } from '../styles/shared.js';
import { gpuGridStyles } from './gpu-grid-styles.js';
import { icon } from './icons.js';
import {
  celsius,
  countSlots,
  describeDevice,
  describeMemory,
  describeProcess,
  foreignProcesses,
  isTroubled,
  nameOfJob,
  percent,
  reasonOfSlot,
  shortMemory,
  stateOfSlot,
} from './slot-words.js';
import { statusLabel } from './svc-status.js';

/** With so many slots and more, a slot is a small cell, and the rest is told when it is pointed at. */
const DENSE_FROM = 65;
const MOST_TROUBLED = 5;
const TIP_WIDTH = 272;
const TIP_AWAY = 6;

interface Place {
  readonly nodeId: string;
  /** Of the slot; -1: the name of the node. */
  readonly index: number;
}

/**
 * Every GPU of every node: who has it, what it does, whether it is well. One stop of the tab key; arrows move in it. What is pointed at or has
 * the focus is told in full.
 */
@customElement('svc-gpu-grid')
export class SvcGpuGrid extends LitElement {
  @property({ attribute: false }) nodes: readonly NodeRecord[] = [];
  /** By id: those that hold slots. */
  @property({ attribute: false }) jobs: ReadonlyMap<string, Job> = new Map();
  /** What had the focus last. */
  @state() private current: Place | null = null;
  @state() private told: Place | null = null;
  @query('.tip') private readonly tip!: HTMLElement | null;
  /** Where the tab key comes in. */
  #entry: Place | null = null;

  static override styles = [baseStyles, iconStyles, gpuGridStyles];

  override render() {
    const nodes = this.#withSlots;
    this.#entry = this.#findEntry();
    const isDense = nodes.reduce((sum, { slots }) => sum + slots.length, 0) >= DENSE_FROM;
    return html`${this.#renderCounts()}
      ${isDense ? html`<p class="key">Number and upper bar: utilization in percent. Lower bar: memory.</p>` : nothing}
      <div
        class="nodes ${isDense ? 'dense' : ''}"
        role="grid"
        aria-label="GPUs"
        @keydown=${this.#onKey}
        @mouseover=${this.#onPoint}
        @mouseleave=${() => (this.told = null)}
        @focusin=${this.#onFocus}
        @focusout=${() => (this.told = null)}
      >
        ${repeat(
          nodes,
          ({ id }) => id,
          (node) => this.#renderNode(node, isDense),
        )}
      </div>
      ${this.#renderTroubled()} ${this.#renderTip()}`;
  }

  override updated(changed: PropertyValues): void {
    if (changed.has('told') && this.told) this.#placeTip(this.told);
  }

  get #withSlots(): NodeRecord[] {
    return this.nodes.filter(({ slots }) => slots.length > 0);
  }

  #renderCounts() {
    return html`<ul class="counts" aria-label="GPUs by state">
      ${countSlots(this.#withSlots).map(
        ({ state, count }) =>
          html`<li class=${state.name}>
            ${icon(state.icon, 14)}<b>${formatCount(count)}</b> ${state.label}
          </li>`,
      )}
    </ul>`;
  }

  #renderNode(node: NodeRecord, isDense: boolean) {
    const { id, name, status, slots } = node;
    return html`<div class="node" role="row" .style=${`--slots: ${slots.length}`}>
      <div class="name" role="rowheader">
        <a
          class="truncate"
          href=${paths.node(id)}
          title=${name}
          data-node=${id}
          data-slot="-1"
          tabindex=${this.#tabIndex(id, -1)}
          >${name}</a
        >${status === 'ONLINE' ? nothing : html`<span class="status ${status}">${icon(status === 'OFFLINE' ? 'offline' : 'draining', 12)} ${statusLabel(status)}</span>`}
      </div>
      <div class="slots" role="presentation">
        ${slots.map((slot) => this.#renderSlot(node, slot, isDense))}
      </div>
    </div>`;
  }

  #renderSlot(node: NodeRecord, slot: Slot, isDense: boolean) {
    const state = stateOfSlot(node, slot);
    return html`<div class="cell" role="gridcell">
      <a
        class="slot ${state.name} ${isTroubled(state) ? 'troubled' : ''}"
        href=${slot.job_id ? paths.job(slot.job_id) : paths.node(node.id)}
        data-node=${node.id}
        data-slot=${slot.index}
        tabindex=${this.#tabIndex(node.id, slot.index)}
        ><span class="visually-hidden">${this.#describe(node, slot)}</span
        ><span class="look" aria-hidden="true"
          >${isDense ? this.#renderSmall(node, slot) : this.#renderLarge(node, slot)}</span
        ></a
      >
    </div>`;
  }

  #renderSmall(node: NodeRecord, slot: Slot) {
    const state = stateOfSlot(node, slot);
    const isBusy = state.name === 'busy' && slot.utilization !== null;
    return html`<span class="figure"> ${isBusy ? Math.round(slot.utilization!) : icon(state.icon, 14)} </span>
      ${renderBars(slot)}`;
  }

  #renderLarge(node: NodeRecord, slot: Slot) {
    const state = stateOfSlot(node, slot);
    return html`<span class="line">
        <b>GPU ${slot.index}</b><span class="state">${icon(state.icon, 12)}</span>
      </span>
      ${
        slot.job_id
          ? html`<span class="job truncate">${nameOfJob(this.jobs, slot.job_id)}</span>`
          : html`<span class="state truncate">${state.label}</span>`
      }
      ${renderBars(slot)}
      <span class="figures"
        >${[percent(slot.utilization), celsius(slot), shortMemory(slot)].map((figure) => html`<span>${figure}</span>`)}</span
      >`;
  }

  /** Those that take no job though their node does, with the reason. */
  #renderTroubled() {
    const troubled = this.#withSlots
      .filter(({ status }) => status !== 'OFFLINE')
      .flatMap((node) => node.slots.map((slot) => ({ node, slot, state: stateOfSlot(node, slot) })))
      .filter(({ state }) => isTroubled(state));
    if (troubled.length === 0) return nothing;
    const hidden = troubled.length - MOST_TROUBLED;
    return html`<ul class="troubles" aria-label="GPUs that take no job">
      ${troubled.slice(0, MOST_TROUBLED).map(
        ({ node, slot, state }) =>
          html`<li>
            <span class="state ${state.name}">${icon(state.icon, 14)} ${state.label}</span>
            <a href=${paths.node(node.id)}>${node.name}, GPU ${slot.index}</a>
            <span class="reason">${reasonOfSlot(slot)}</span>
          </li>`,
      )}
      ${hidden > 0 ? html`<li><a href=${paths.nodes()}>and ${formatCount(hidden)} more</a></li>` : nothing}
    </ul>`;
  }

  #renderTip() {
    const told = this.told;
    const node = told && this.nodes.find(({ id }) => id === told.nodeId);
    const slot = node?.slots.find(({ index }) => index === told!.index);
    if (!node || !slot) return nothing;
    const state = stateOfSlot(node, slot);
    const foreign = foreignProcesses(slot);
    return html`<div class="tip" aria-hidden="true">
      <p class="line">
        <b class="truncate">${node.name} · GPU ${slot.index}</b
        ><span class="state ${state.name} ${isTroubled(state) ? 'troubled' : ''}"
          >${icon(state.icon, 12)} ${state.label}</span
        >
      </p>
      ${slot.job_id ? html`<p class="job">${nameOfJob(this.jobs, slot.job_id)}</p>` : nothing}
      ${slot.health.state === 'ok' ? nothing : html`<p class="reason">${reasonOfSlot(slot)}</p>`}
      <dl>
        ${factsOf(slot).map(
          ([name, value]) =>
            html`<dt>${name}</dt>
              <dd>${value}</dd>`,
        )}
      </dl>
      ${foreign.length === 0 ? nothing : html`<p class="reason">Not of svc: ${foreign.map(describeProcess).join(', ')}</p>`}
      <p class="quiet">${describeDevice(slot)}</p>
    </div>`;
  }

  /** All of a slot in one sentence, for those who do not see it. */
  #describe(node: NodeRecord, slot: Slot): string {
    const state = stateOfSlot(node, slot);
    const parts = [
      `${node.name}, GPU ${slot.index}: ${state.label}`,
      slot.job_id && `job ${nameOfJob(this.jobs, slot.job_id)}`,
      ...factsOf(slot).map(([name, value]) => `${name} ${value}`),
      reasonOfSlot(slot)?.replace(/\.$/, ''),
    ];
    return `${parts.filter(Boolean).join(', ')}.`;
  }

  #tabIndex(nodeId: string, index: number): 0 | -1 {
    return this.#entry?.nodeId === nodeId && this.#entry.index === index ? 0 : -1;
  }

  /** The place that had the focus last, while it is there; else the first one. */
  #findEntry(): Place | null {
    const nodes = this.#withSlots;
    const { nodeId, index } = this.current ?? {};
    const node = nodes.find(({ id }) => id === nodeId);
    if (node && (index === -1 || node.slots.some((slot) => slot.index === index))) return this.current;
    return nodes[0] ? { nodeId: nodes[0].id, index: -1 } : null;
  }

  readonly #onPoint = (event: Event): void => {
    this.told = placeOf(event);
  };

  readonly #onFocus = (event: Event): void => {
    const place = placeOf(event);
    if (!place) return;
    this.current = place;
    if ((event.target as HTMLElement).matches(':focus-visible')) this.told = place;
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') this.told = null;
    const place = placeOf(event);
    const next = place && this.#next(place, event.key);
    if (!next) return;
    event.preventDefault();
    this.#linkAt(next)?.focus();
  };

  /** The place that a key leads to from there; null: none. */
  #next({ nodeId, index }: Place, key: string): Place | null {
    const nodes = this.#withSlots;
    const row = nodes.findIndex(({ id }) => id === nodeId);
    const columns = (at: number) => [-1, ...nodes[at]!.slots.map((slot) => slot.index)];
    const column = columns(row).indexOf(index);
    const to = (at: number, wanted: number): Place | null => {
      const node = nodes[at];
      if (!node) return null;
      const there = columns(at);
      return { nodeId: node.id, index: there[Math.max(0, Math.min(wanted, there.length - 1))]! };
    };
    if (key === 'ArrowRight') return to(row, column + 1);
    if (key === 'ArrowLeft') return to(row, column - 1);
    if (key === 'ArrowDown') return to(row + 1, column);
    if (key === 'ArrowUp') return to(row - 1, column);
    if (key === 'Home') return to(row, 0);
    return key === 'End' ? to(row, Infinity) : null;
  }

  #linkAt({ nodeId, index }: Place): HTMLElement | null {
    return this.renderRoot.querySelector(`[data-node="${CSS.escape(nodeId)}"][data-slot="${index}"]`);
  }

  /** Below the slot, or above it where the window ends. */
  #placeTip(place: Place): void {
    const slot = this.#linkAt(place)?.getBoundingClientRect();
    if (!slot || !this.tip) return;
    const host = this.getBoundingClientRect();
    const width = Math.min(TIP_WIDTH, host.width);
    const left = Math.max(0, Math.min(slot.left - host.left, host.width - width));
    const height = this.tip.offsetHeight;
    const isRoomBelow = slot.bottom + TIP_AWAY + height < window.innerHeight;
    const top = isRoomBelow ? slot.bottom + TIP_AWAY : slot.top - TIP_AWAY - height;
    Object.assign(this.tip.style, {
      width: `${width}px`,
      left: `${left}px`,
      top: `${top - host.top}px`,
    });
  }
}

function placeOf(event: Event): Place | null {
  const link = (event.target as HTMLElement).closest<HTMLElement>('[data-node]');
  return link ? { nodeId: link.dataset['node']!, index: Number(link.dataset['slot']) } : null;
}

/** Utilization and memory as two bars. */
function renderBars({ utilization, memory_used_mb: used, memory_total_mb: total }: Slot) {
  const memory = used === null || !total ? null : (used / total) * 100;
  return html`<span class="bars">${renderBar('use', utilization)}${renderBar('memory', memory)}</span>`;
}

function renderBar(kind: string, value: number | null) {
  const width = Math.max(0, Math.min(100, value ?? 0));
  return html`<span class="bar ${kind} ${value === null ? 'unknown' : ''}"
    ><span .style=${`width: ${width}%`}></span
  ></span>`;
}

function factsOf(slot: Slot): [name: string, value: string][] {
  const facts: [string, string | null][] = [
    ['utilization', percent(slot.utilization)],
    ['memory', describeMemory(slot)],
    ['temperature', celsius(slot)],
    ['power', slot.power_w === null ? null : `${Math.round(slot.power_w)} W`],
    ['clock', slot.sm_clock_mhz === null ? null : `${Math.round(slot.sm_clock_mhz)} MHz`],
    ['memory clock', slot.mem_clock_mhz === null ? null : `${Math.round(slot.mem_clock_mhz)} MHz`],
  ];
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, value] as [string, string]]));
}
