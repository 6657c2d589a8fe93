import { html, nothing } from 'lit';
import { live } from 'lit/directives/live.js';
import type { NodeRecord } from '../data/nodes.js';
import { formatMegabytes, plural } from '../format.js';
import { renderChoice, renderNumber, renderPairs, renderSelect, textOf } from './form-fields.js';
import { renderErrors } from './form-parts.js';
import { errorsOf, labelErrorsOf, type JobFormView } from './job-form-view.js';

/** What the job needs: GPUs or none, which node, and when it goes first or again. */
export function renderResources(form: JobFormView) {
  const { isCpuOnly, gpus, gpuModel, node, priority, attempts } = form.draft;
  return html`<section class="panel" aria-labelledby="heading-resources">
    <h2 id="heading-resources">Resources</h2>
    <div class="columns">
      <div class="field">
        <span class="label" id="device">Runs on</span>
        <div class="device">
          <div class="segmented" role="group" aria-labelledby="device">
            ${renderChoice('GPU', !isCpuOnly, () => form.change({ isCpuOnly: false }))}
            ${renderChoice('CPU only', isCpuOnly, () => form.change({ isCpuOnly: true }))}
          </div>
          ${
            isCpuOnly
              ? nothing
              : html`<input
                  class="input count"
                  type="number"
                  min="1"
                  max="1024"
                  aria-label="Number of GPUs"
                  aria-invalid=${errorsOf(form, 'resources').length > 0 ? 'true' : 'false'}
                  aria-describedby="resources-hint"
                  .value=${live(gpus)}
                  @input=${(event: Event) => form.change({ gpus: textOf(event) })}
                />`
          }
        </div>
        ${renderErrors({ id: 'resources', label: 'GPUs', errors: errorsOf(form, 'resources') })}
        <p class="hint" id="resources-hint">${describeGpus(form)}</p>
      </div>
      ${
        isCpuOnly
          ? nothing
          : renderSelect(
              {
                id: 'gpu_model',
                label: 'GPU model',
                errors: errorsOf(form, 'node_selector.gpu_model'),
              },
              gpuModel,
              [['', 'Any'], ...listModels(form.nodes)],
              (value) => form.change({ gpuModel: value }),
            )
      }
      ${renderSelect(
        { id: 'node', label: 'Node', errors: errorsOf(form, 'node_selector.node') },
        node,
        [
          ['', 'Any that fits'],
          ...form.nodes.map(
            ({ name, status }) =>
              [name, status === 'ONLINE' ? name : `${name} (${status.toLowerCase()})`] as const,
          ),
        ],
        (value) => form.change({ node: value }),
      )}
      ${renderNumber({ id: 'priority', label: 'Priority', hint: 'From -1000 to 1000; higher runs first.', errors: errorsOf(form, 'priority') }, priority, (text) => form.change({ priority: text }))}
      ${renderNumber({ id: 'max_attempts', label: 'Attempts', hint: 'More than 1: tried again by itself after a lost node or a signal, not after an error of the command or out of memory.', errors: errorsOf(form, 'max_attempts') }, attempts, (text) => form.change({ attempts: text }))}
    </div>
    <div class="field">
      <span class="label">Labels that the node must have <span class="optional">(optional)</span></span>
      ${renderPairs('label', form.draft.labels, labelErrorsOf(form), (labels) => form.change({ labels }))}
    </div>
  </section>`;
}

function describeGpus(form: JobFormView): string {
  const most = Math.max(
    0,
    ...form.nodes.filter(({ status }) => status === 'ONLINE').map(({ slots }) => slots.length),
  );
  if (form.draft.isCpuOnly) return 'The job takes no GPU.';
  if (form.nodes.length === 0) return 'No node has connected yet: the job waits until one does.';
  return most === 0
    ? 'No online node has a GPU: the job waits until one connects.'
    : `On one node; the largest that is online has ${plural(most, 'GPU')}.`;
}

/** Each model of the nodes, with its memory and how many nodes have it. */
function listModels(nodes: readonly NodeRecord[]): [value: string, label: string][] {
  const models = new Map<string, { memoryMb: number; nodes: Set<string> }>();
  for (const { id, slots } of nodes)
    for (const { model, memory_total_mb: memoryMb } of slots) {
      const seen = models.get(model) ?? { memoryMb: memoryMb ?? 0, nodes: new Set() };
      models.set(model, { memoryMb: Math.min(seen.memoryMb, memoryMb ?? 0), nodes: seen.nodes.add(id) });
    }
  return [...models]
    .sort(([, a], [, b]) => b.memoryMb - a.memoryMb)
    .map(([model, found]) => {
      const memory = found.memoryMb > 0 ? `, ${formatMegabytes(found.memoryMb)}` : '';
      return [model, `${model}${memory} (${plural(found.nodes.size, 'node')})`];
    });
}
