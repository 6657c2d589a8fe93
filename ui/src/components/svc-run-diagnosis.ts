import { consume } from '@lit/context';
import type { Diagnosis, LogLine, NextActionRecord } from '@svc/contract';
import { fromMetricValue } from '@svc/contract/protocol';
import { LitElement, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { getDiagnosis } from '../data/diagnosis.js';
import type { Run } from '../data/runs.js';
import { formatClock, formatCount, formatDuration, formatMegabytes, formatValue } from '../format.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, panelStyles } from '../styles/shared.js';
import { pointPath, renderCitation } from './citation-link.js';
import { icon, type IconName } from './icons.js';
import { fact, renderPart } from './record-parts.js';
import { runDiagnosisStyles } from './run-diagnosis-styles.js';
import './svc-time.js';

const LIVE_POLL_MS = 15_000;

/** How a run goes, in plain words: what is wrong, with the evidence and what to change, and what to do next. */
@customElement('svc-run-diagnosis')
export class SvcRunDiagnosis extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) run!: Run;

  readonly #diagnosis = new Loader(this, {
    load: (signal) => getDiagnosis(this.api, this.run.id, signal),
    everyMs: LIVE_POLL_MS,
  });

  static override styles = [baseStyles, iconStyles, panelStyles, runDiagnosisStyles];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      if (events.some(({ run_id: id }) => id === this.run.id)) this.#diagnosis.refresh();
    });
  }

  override render() {
    return renderPart(this.#diagnosis, 'diagnosis', (diagnosis) => this.#renderDiagnosis(diagnosis));
  }

  #renderDiagnosis(diagnosis: Diagnosis) {
    return html`<div class="body">
      <p class="summary">${diagnosis.summary}</p>
      ${this.#renderAnomalies(diagnosis)} ${this.#renderActions(diagnosis)} ${this.#renderFigures(diagnosis)}
      ${diagnosis.last_errors.length === 0 ? nothing : this.#renderErrors(diagnosis.last_errors)}
    </div>`;
  }

  #renderAnomalies({ anomalies, job_id: jobId }: Diagnosis) {
    if (anomalies.length === 0) return nothing;
    return html`<section aria-label="What stands out">
      <h2>What stands out</h2>
      <ul class="anomalies">
        ${anomalies.map(
          ({ severity, message, evidence, fixes }) =>
            html`<li class=${severity}>
              <span class="sign">${icon(severity as IconName)}</span>
              <div>
                <p><span class="visually-hidden">${severity}: </span>${message}</p>
                ${
                  evidence.length === 0
                    ? nothing
                    : html`<p class="evidence">
                        ${evidence.map((citation) => renderCitation(this.run.id, jobId, citation))}
                      </p>`
                }
                ${
                  fixes.length === 0
                    ? nothing
                    : html`<ul class="fixes">
                        ${fixes.map((fix) => html`<li>${fix}</li>`)}
                      </ul>`
                }
              </div>
            </li>`,
        )}
      </ul>
    </section>`;
  }

  /** Of a run without a job there is nothing more to explain than what stands here. */
  #renderActions({ next_actions: actions }: Diagnosis) {
    const possible = actions.filter(
      (action) => action.tool !== 'explain_failure' || this.run.job_id !== null,
    );
    if (possible.length === 0) return nothing;
    return html`<section aria-label="What to do next">
      <h2>What to do next</h2>
      <ol class="actions">
        ${possible.map((action) => this.#renderAction(action))}
      </ol>
    </section>`;
  }

  #renderAction(action: NextActionRecord) {
    const link = this.#linkOf(action);
    return html`<li>
      ${action.reason} ${link === null ? nothing : html`<a href=${link.path}>${link.label}</a>`}
    </li>`;
  }

  /** The page of the console that shows what the tool would answer, or where it is done. */
  #linkOf({ tool, args }: NextActionRecord): { path: string; label: string } | null {
    const { id, job_id: jobId } = this.run;
    const own = (tab: string, label: string) => ({ path: paths.run(id, { tab }), label });
    const given = args['job_id'];
    const job = typeof given === 'string' ? given : jobId;
    switch (tool) {
      case 'query_metrics':
      case 'get_run_summary':
        return own('charts', 'Charts');
      case 'list_events':
        return own('events', 'Events');
      case 'list_checkpoints':
      case 'evaluate_checkpoint':
        return own('checkpoints', 'Checkpoints');
      case 'get_best_checkpoint':
        return {
          path: paths.checkpoints({ run_id: id, metric: toText(args['metric']) }),
          label: 'Checkpoints',
        };
      case 'list_evaluations':
        return own('evaluations', 'Evaluations');
      case 'diagnose_run':
        return { path: paths.run(String(args['run_id']), { tab: 'diagnosis' }), label: 'Its diagnosis' };
      case 'get_job':
      case 'tail_logs':
      case 'explain_failure':
      case 'cancel_job':
      case 'retry_job':
      case 'submit_job':
        return job === null ? null : { path: paths.job(job), label: 'Job and log' };
      case 'compare_runs':
        return { path: paths.compare({ runs: [args['ids']].flat().join(',') }), label: 'Compare' };
      case 'list_nodes':
      case 'get_node_status':
        return { path: paths.nodes(), label: 'Nodes' };
      default:
        return null;
    }
  }

  #renderFigures({ progress, convergence, throughput, gpu, last_point_at: lastAt }: Diagnosis) {
    const { metric, latest, latest_step: latestStep, best, best_step: bestStep, trend } = convergence;
    const at = (step: number | null) =>
      step === null || metric === null
        ? nothing
        : html` <a href=${pointPath(this.run.id, metric, step)}>at step ${formatCount(step)}</a>`;
    const { time_left: left, steps_per_s: pace } = progress;
    const facts = [
      metric !== null &&
        latest !== null &&
        fact(`${metric}, latest`, html`${formatValue(fromMetricValue(latest))}${at(latestStep)}`),
      metric !== null && best !== null && fact(`${metric}, best`, html`${formatValue(best)}${at(bestStep)}`),
      metric !== null && trend !== 'unknown' && fact('Trend', trend),
      convergence.eval_best !== null &&
        fact('Best evaluation', html`${formatValue(convergence.eval_best)}${at(convergence.eval_best_step)}`),
      pace !== null && fact('Pace', `${formatValue(pace)} steps/s`),
      throughput?.change ? fact('Pace against before', toPercent(throughput.change)) : false,
      left !== null &&
        fact(
          'Time left',
          `about ${formatDuration(left.likely_s * 1000)} (${formatDuration(left.least_s * 1000)} to ${formatDuration(left.most_s * 1000)})`,
        ),
      lastAt !== null && fact('Last point', html`<svc-time .from=${lastAt}></svc-time>`),
      gpu !== null && fact('GPU utilization', `${Math.round(gpu.utilization_percent)} % (mean)`),
      ...(gpu?.slots ?? []).map(({ index, utilization_percent: use, memory_used_mb: memory }) =>
        fact(`GPU ${index}`, `${Math.round(use)} %${memory === null ? '' : `, ${formatMegabytes(memory)}`}`),
      ),
    ].filter((each) => each !== false);
    if (facts.length === 0) return nothing;
    return html`<section aria-label="Figures">
      <h2>Figures</h2>
      <dl class="facts">${facts}</dl>
    </section>`;
  }

  #renderErrors(lines: readonly LogLine[]) {
    return html`<section aria-label="Last errors of the log">
      <h2>Last errors of the log</h2>
      <pre tabindex="0" role="group" aria-label="Last errors of the log">
${lines.map(({ ts, text }) => html`<span><span class="quiet">${formatClock(ts)}</span> ${text}</span>`)}</pre>
      ${this.run.job_id === null ? nothing : html`<p class="evidence"><a href=${paths.job(this.run.job_id)}>The whole log</a></p>`}
    </section>`;
  }
}

function toPercent(change: number): string {
  const percent = Math.round(Math.abs(change) * 100);
  return `${percent} % ${change < 0 ? 'slower' : 'faster'}`;
}

function toText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
