import { html, nothing, type TemplateResult } from 'lit';
import { icon } from './icons.js';

export interface FieldLook {
  readonly id: string;
  readonly label: string;
  readonly hint?: unknown;
  /** What is wrong with what was typed. */
  readonly errors?: readonly string[];
  readonly isOptional?: boolean;
}

/** What the control of a field needs so that its hint and its errors are read with it. */
export function describedBy({ id, hint, errors = [] }: FieldLook): string {
  return [hint === undefined ? '' : `${id}-hint`, errors.length > 0 ? `${id}-error` : '']
    .filter(Boolean)
    .join(' ');
}

/** A control with its label, and below it what is wrong with it. The control has the id of the field. */
export function renderField(look: FieldLook, control: TemplateResult): TemplateResult {
  const { id, label, hint, isOptional = false } = look;
  return html`<div class="field">
    <label for=${id}>${label}${isOptional ? html`<span class="optional"> (optional)</span>` : nothing}</label>
    ${control} ${renderErrors(look)}
    ${hint === undefined ? nothing : html`<p class="hint" id="${id}-hint">${hint}</p>`}
  </div>`;
}

export function renderErrors({ id, errors = [] }: FieldLook): TemplateResult | typeof nothing {
  if (errors.length === 0) return nothing;
  return html`<p class="error" id="${id}-error">${icon('warning', 12)}<span>${errors.join('; ')}</span></p>`;
}

export function isInvalid({ errors = [] }: FieldLook): 'true' | 'false' {
  return errors.length > 0 ? 'true' : 'false';
}
