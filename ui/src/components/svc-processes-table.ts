import type { NodeSnapshot } from '@svc/contract';
import { LitElement, css, html } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { Job } from '../data/jobs.js';
import { formatMegabytes } from '../format.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles } from '../styles/shared.js';
import { dataTableStyles } from '../styles/table-styles.js';
import { icon } from './icons.js';
import { nameOfJob } from './slot-words.js';

type GpuProcess = NodeSnapshot['processes'][number];
type HostProcess = NodeSnapshot['host_processes'][number];

/** Processes on GPUs, or of the host, those with most memory first; a process on a GPU that is of no job says so. */
@customElement('svc-processes-table')
export class SvcProcessesTable extends LitElement {
  @property() label = 'Processes';
  @property({ attribute: false }) processes: readonly (GpuProcess | HostProcess)[] = [];
  @property({ attribute: false }) jobs: ReadonlyMap<string, Job> = new Map();

  static override styles = [
    baseStyles,
    iconStyles,
    dataTableStyles,
    css`
      .scroll {
        max-height: 26rem;
      }
      th,
      td {
        padding: var(--space-1) var(--space-4) var(--space-1) 0;
      }
      tr > :first-child {
        padding-left: var(--space-4);
      }
      tbody tr > * {
        height: 2.125rem;
      }
      .name,
      .job {
        min-width: 7rem;
        max-width: 16rem;
        overflow-wrap: anywhere;
      }
      .job a {
        display: block;
      }
      .number {
        font-variant-numeric: tabular-nums;
      }
      .foreign {
        color: var(--color-warning);
        white-space: nowrap;
      }
    `,
  ];

  override render() {
    const isOfGpus = this.processes.some(isOfGpu);
    return html`<div class="scroll" tabindex="0" role="group" aria-label=${this.label}>
      <table>
        <thead>
          <tr>
            <th scope="col">Process</th>
            <th scope="col" class="number">Memory</th>
            <th scope="col" class="number">${isOfGpus ? 'GPU' : 'CPU'}</th>
            <th scope="col">User</th>
            <th scope="col" class="number">PID</th>
            <th scope="col">Job</th>
          </tr>
        </thead>
        <tbody>
          ${[...this.processes].sort((a, b) => b.mem_mb - a.mem_mb).map((process) => this.#renderProcess(process))}
        </tbody>
      </table>
    </div>`;
  }

  #renderProcess(process: GpuProcess | HostProcess) {
    const { pid, name, user, mem_mb: memory, job_id: jobId } = process;
    return html`<tr>
      <th scope="row" class="name">${name}</th>
      <td class="number">${formatMegabytes(memory)}</td>
      <td class="number">
        ${isOfGpu(process) ? process.gpu : process.cpu_percent === null ? '–' : `${Math.round(process.cpu_percent)} %`}
      </td>
      <td>${user ?? '–'}</td>
      <td class="number">${pid}</td>
      <td class="job">${this.#renderJob(jobId, isOfGpu(process))}</td>
    </tr>`;
  }

  #renderJob(jobId: string | null, isForeign: boolean) {
    if (jobId !== null) {
      const name = nameOfJob(this.jobs, jobId);
      return html`<a class="truncate" href=${paths.job(jobId)} title=${name}>${name}</a>`;
    }
    if (!isForeign) return html`<span class="quiet">–</span>`;
    return html`<span class="foreign">${icon('foreign', 14)} Foreign: of no job</span>`;
  }
}

function isOfGpu(process: GpuProcess | HostProcess): process is GpuProcess {
  return 'gpu' in process;
}
