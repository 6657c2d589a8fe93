import { html, nothing } from 'lit';
import { live } from 'lit/directives/live.js';
import type { Pair } from '../data/job-draft.js';
import { describedBy, isInvalid, renderField, type FieldLook } from './form-parts.js';
import './svc-pairs.js';

/** What a field offers by name. */
export interface Place {
  readonly name: string;
}

/** The kinds of fields that forms are made of. Each is controlled: it shows `text` and tells what was typed. */

export function renderChoice(label: string, isOn: boolean, onClick: () => void) {
  return html`<button type="button" aria-pressed=${isOn ? 'true' : 'false'} @click=${onClick}>
    ${label}
  </button>`;
}

export function renderText(
  look: FieldLook,
  text: string,
  onText: (text: string) => void,
  { placeholder = '', isCode = false, maxLength = 4096 } = {},
) {
  return renderField(
    look,
    html`<input
      id=${look.id}
      class="input ${isCode ? 'code' : ''}"
      placeholder=${placeholder}
      maxlength=${maxLength}
      spellcheck="false"
      autocomplete="off"
      aria-invalid=${isInvalid(look)}
      aria-describedby=${describedBy(look) || nothing}
      .value=${live(text)}
      @input=${(event: Event) => onText(textOf(event))}
    />`,
  );
}

export function renderNumber(look: FieldLook, text: string, onText: (text: string) => void) {
  return renderField(
    look,
    html`<input
      id=${look.id}
      class="input"
      inputmode="decimal"
      autocomplete="off"
      aria-invalid=${isInvalid(look)}
      aria-describedby=${describedBy(look) || nothing}
      .value=${live(text)}
      @input=${(event: Event) => onText(textOf(event))}
    />`,
  );
}

export function renderArea(
  look: FieldLook,
  text: string,
  onText: (text: string) => void,
  placeholder: string,
) {
  return renderField(
    look,
    html`<textarea
      id=${look.id}
      class="input code"
      rows=${Math.min(8, Math.max(2, text.split('\n').length))}
      placeholder=${placeholder}
      spellcheck="false"
      aria-invalid=${isInvalid(look)}
      aria-describedby=${describedBy(look) || nothing}
      .value=${live(text)}
      @input=${(event: Event) => onText(textOf(event))}
    ></textarea>`,
  );
}

/** A value that is no longer among the choices stays one. */
export function renderSelect(
  look: FieldLook,
  chosen: string,
  choices: readonly (readonly [value: string, label: string])[],
  onChoice: (value: string) => void,
) {
  const shown = choices.some(([value]) => value === chosen)
    ? choices
    : [...choices, [chosen, chosen] as const];
  return renderField(
    look,
    html`<select
      id=${look.id}
      class="select"
      aria-invalid=${isInvalid(look)}
      aria-describedby=${describedBy(look) || nothing}
      @change=${(event: Event) => onChoice(textOf(event))}
    >
      ${shown.map(([value, label]) => html`<option value=${value} .selected=${live(value === chosen)}>${label}</option>`)}
    </select>`,
  );
}

export function renderWithList(
  id: string,
  label: string,
  text: string,
  places: readonly Place[],
  errors: readonly string[],
  onText: (text: string) => void,
) {
  const look: FieldLook = {
    id,
    label,
    isOptional: true,
    hint: `A new name creates ${id === 'project' ? 'a project' : 'an experiment'}.`,
    errors: errors,
  };
  return renderField(
    look,
    html`<input
        id=${id}
        class="input"
        list="${id}-list"
        maxlength="200"
        spellcheck="false"
        autocomplete="off"
        aria-invalid=${isInvalid(look)}
        aria-describedby=${describedBy(look)}
        .value=${live(text)}
        @input=${(event: Event) => onText(textOf(event))}
      /><datalist id="${id}-list">
        ${places.map(({ name }) => html`<option value=${name}></option>`)}
      </datalist>`,
  );
}

export function renderPairs(
  noun: string,
  pairs: readonly Pair[],
  errors: readonly string[],
  onPairs: (pairs: readonly Pair[]) => void,
  isCovered = false,
) {
  return html`<svc-pairs
    noun=${noun}
    .pairs=${pairs}
    .errors=${errors}
    ?covered=${isCovered}
    ?data-invalid=${errors.length > 0}
    @svc-pairs=${(event: CustomEvent<readonly Pair[]>) => onPairs(event.detail)}
  ></svc-pairs>`;
}

/** What stands in the control that the event is of. */
export function textOf(event: Event): string {
  return (event.target as HTMLInputElement).value;
}
