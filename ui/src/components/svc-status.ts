import type { JobStatus, NodeRecord, RunStatus, RunSummary, Severity } from '@svc/contract';
import { LitElement, css, html } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { baseStyles } from '../styles/shared.js';
import { iconStyles } from '../styles/icon-styles.js';
import { icon, type IconName } from './icons.js';

type Tone = 'neutral' | 'active' | 'success' | 'warning' | 'danger';

interface Look {
  icon: IconName;
  tone: Tone;
  label: string;
}

type State = JobStatus | RunStatus | NodeRecord['status'] | RunSummary['health']['status'] | Severity;

/** Every state that a job, run, node, health or event can show. */
const LOOKS = {
  QUEUED: { icon: 'queued', tone: 'neutral', label: 'Queued' },
  DISPATCHING: { icon: 'dispatching', tone: 'active', label: 'Starting' },
  RUNNING: { icon: 'running', tone: 'active', label: 'Running' },
  SUCCEEDED: { icon: 'succeeded', tone: 'success', label: 'Succeeded' },
  FAILED: { icon: 'failed', tone: 'danger', label: 'Failed' },
  CANCELLED: { icon: 'cancelled', tone: 'neutral', label: 'Cancelled' },
  LOST: { icon: 'lost', tone: 'warning', label: 'Lost' },
  IMPORTED: { icon: 'imported', tone: 'neutral', label: 'Imported' },
  ONLINE: { icon: 'online', tone: 'success', label: 'Online' },
  OFFLINE: { icon: 'offline', tone: 'danger', label: 'Offline' },
  DRAINING: { icon: 'draining', tone: 'warning', label: 'Draining' },
  ok: { icon: 'check', tone: 'success', label: 'Healthy' },
  stale: { icon: 'clock', tone: 'warning', label: 'Stale' },
  info: { icon: 'info', tone: 'neutral', label: 'Info' },
  warning: { icon: 'warning', tone: 'warning', label: 'Warning' },
  critical: { icon: 'critical', tone: 'danger', label: 'Critical' },
} satisfies Record<State, Look>;

function lookOf(value: string): Look {
  return (LOOKS as Partial<Record<string, Look>>)[value] ?? { icon: 'info', tone: 'neutral', label: value };
}

/** A state as a pill: icon, word and colour say the same. */
@customElement('svc-status')
export class SvcStatus extends LitElement {
  @property() value = '';

  static override styles = [
    baseStyles,
    iconStyles,
    css`
      :host {
        display: inline-flex;
        vertical-align: middle;
      }
      span {
        display: inline-flex;
        align-items: center;
        gap: 0.375rem;
        height: 1.5rem;
        padding: 0 0.5625rem 0 0.4375rem;
        border-radius: var(--radius-full);
        font-size: var(--text-xs);
        font-weight: var(--weight-medium);
        white-space: nowrap;
        color: var(--tone);
        background: var(--ground);
        --icon-ground: var(--ground);
      }
      .neutral {
        --tone: var(--color-neutral);
        --ground: var(--color-neutral-soft);
      }
      .active {
        --tone: var(--color-active);
        --ground: var(--color-active-soft);
      }
      .success {
        --tone: var(--color-success);
        --ground: var(--color-success-soft);
      }
      .warning {
        --tone: var(--color-warning);
        --ground: var(--color-warning-soft);
      }
      .danger {
        --tone: var(--color-danger);
        --ground: var(--color-danger-soft);
      }
    `,
  ];

  override render() {
    const look = lookOf(this.value);
    return html`<span class=${look.tone}>${icon(look.icon, 14)}${look.label}</span>`;
  }
}

export function statusLabel(value: string): string {
  return lookOf(value).label;
}
