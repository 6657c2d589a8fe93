import { html, nothing, type TemplateResult } from 'lit';
import { takesFurther, toOptionFields, type OptionField } from '../data/runner-options.js';
import { plural } from '../format.js';
import { renderArea, renderNumber, renderSelect, renderText } from './form-fields.js';
import type { FieldLook } from './form-parts.js';
import { errorsOf, type JobFormView } from './job-form-view.js';

/** The runner, and its options as its schema names them. */
export function renderRunner(form: JobFormView) {
  const runner = form.runners.find(({ name }) => name === form.draft.runner);
  const names = form.runners.map(({ name }) => [name, name] as const);
  const isKnown = names.some(([name]) => name === form.draft.runner);
  const shown = isKnown ? names : [...names, [form.draft.runner, form.draft.runner] as const];
  return html`<section class="panel" aria-labelledby="heading-runner">
    <h2 id="heading-runner">How it is started</h2>
    <div class="columns">
      ${renderSelect(
        { id: 'runner', label: 'Runner', hint: describeRunner(form), errors: errorsOf(form, 'runner') },
        form.draft.runner,
        shown,
        (value) => form.change({ runner: value }),
      )}
      ${runner ? toOptionFields(runner).map((field) => renderOption(form, field)) : nothing}
    </div>
    ${!runner || takesFurther(runner) ? renderFurther(form) : nothing}
  </section>`;
}

/** Where the runner works now; nothing is said while it does everywhere. */
function describeRunner(form: JobFormView): string | undefined {
  const online = form.nodes.filter(({ status }) => status === 'ONLINE');
  const probes = online.map(({ name, runners }) => ({
    node: name,
    ...runners.find((one) => one.name === form.draft.runner),
  }));
  const able = probes.filter(({ available }) => available);
  if (online.length === 0 || able.length === online.length) return undefined;
  if (able.length > 0) return `Works on ${able.length} of ${plural(online.length, 'online node')}.`;
  const [first] = probes;
  return `No online node can use it now: ${first!.node}: ${first!.reason ?? 'its agent has no such runner'}.`;
}

function renderOption(form: JobFormView, field: OptionField): TemplateResult {
  const { name, kind, description, isRequired, choices } = field;
  const errors = [
    ...errorsOf(form, `runner_options.${name}`),
    ...(name === 'image' ? errorsOf(form, 'image') : []),
  ];
  const look: FieldLook = {
    id: `option-${name}`,
    label: toLabel(name),
    isOptional: !isRequired,
    ...(description !== '' && { hint: description }),
    errors,
  };
  const text = form.draft.options[name] ?? '';
  const onText = (value: string) => form.change({ options: { ...form.draft.options, [name]: value } });
  if (kind === 'choice')
    return renderSelect(look, text, [['', 'Default'], ...choices.map((one) => [one, one] as const)], onText);
  if (kind === 'switch')
    return renderSelect(
      look,
      text,
      [
        ['', 'Default'],
        ['true', 'Yes'],
        ['false', 'No'],
      ],
      onText,
    );
  if (kind === 'list' || kind === 'json')
    return renderArea(look, text, onText, kind === 'list' ? 'one on each line' : 'JSON');
  return kind === 'number' ? renderNumber(look, text, onText) : renderText(look, text, onText);
}

function renderFurther(form: JobFormView) {
  const look: FieldLook = {
    id: 'further',
    label: 'Further options',
    isOptional: true,
    hint: 'A JSON object with options of the runner.',
    errors: form.issues.filter(({ path }) => path === 'runner_options').map(({ message }) => message),
  };
  return renderArea(
    look,
    form.draft.furtherOptions,
    (furtherOptions) => form.change({ furtherOptions }),
    '{"name": "value"}',
  );
}

function toLabel(name: string): string {
  const words = name.replace(/_mb$/, ' (MiB)').replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
