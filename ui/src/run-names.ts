import { html, nothing } from 'lit';

/** A name, and what it has beyond what all names around it begin with. */
export interface ShortName {
  readonly label: string;
  readonly own: string;
}

/** Less than this does not cost much room. */
const LEAST_CHARS = 8;

/** What all of these names begin with, as far as a word of it ends; empty where that is not worth leaving out. */
export function commonStart(names: readonly string[]): string {
  const [first = '', ...others] = names;
  if (others.length === 0) return '';
  let length = first.length;
  for (const name of others) while (!name.startsWith(first.slice(0, length))) length -= 1;
  const start = /^.*[\s/_-]/su.exec(first.slice(0, length))?.[0] ?? '';
  return start.length < LEAST_CHARS || names.includes(start) ? '' : start;
}

/** Without what all begin with; that is read out, and the whole name stands in the title. */
export function renderRunName({ label, own }: ShortName) {
  const start = label.slice(0, label.length - own.length);
  return html`<bdi title=${label}
    >${start === '' ? nothing : html`<span class="visually-hidden">${start}</span><span aria-hidden="true">…</span>`}${own}</bdi
  >`;
}

/** Names of runs differ at their end more often than in between. */
export function cutInMiddle(name: string, chars: number): string {
  const letters = [...name];
  if (letters.length <= chars) return name;
  const end = Math.floor(chars / 3);
  return `${letters.slice(0, chars - 1 - end).join('')}…${letters.slice(-end).join('')}`;
}

/** As text, for what is drawn. */
export function toShortName({ label, own }: ShortName): string {
  return own === label ? label : `…${own}`;
}
