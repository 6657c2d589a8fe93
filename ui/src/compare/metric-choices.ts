import { html } from 'lit';
import { closingMenu } from '../closing-menu.js';
import { plural } from '../format.js';
import { MOST_METRICS, type ComparedMetric } from './chosen-metrics.js';

/** The menu of the metrics that have a chart. */
export function renderMetricChoices(
  metrics: readonly ComparedMetric[],
  shown: readonly ComparedMetric[],
  onToggle: (name: string) => void,
) {
  const chosen = new Set(shown.map(({ name }) => name));
  return html`<details class="choices" ${closingMenu()}>
    <summary class="button">Metrics<span class="quiet">${chosen.size} of ${metrics.length}</span></summary>
    <ul>
      ${metrics.map(
        ({ name, runCount }) =>
          html`<li>
            <label
              ><input
                type="checkbox"
                .checked=${chosen.has(name)}
                ?disabled=${!chosen.has(name) && chosen.size >= MOST_METRICS}
                @change=${() => onToggle(name)}
              /><span class="metric">${name}</span
              ><span class="quiet">${plural(runCount, 'run')}</span></label
            >
          </li>`,
      )}
    </ul>
  </details>`;
}
