import { html, type TemplateResult } from 'lit';

/** The mark: a loss curve that settles. */
export function brandMark(size: number): TemplateResult {
  return html`<svg width=${size} height=${size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="8" fill="#2456d6" />
    <path
      d="M7 8.5c2.2 9.6 5.6 14.2 10 14.2 3.4 0 5.2-1.4 8-1.4"
      fill="none"
      stroke="#fff"
      stroke-width="3"
      stroke-linecap="round"
    />
    <circle cx="25" cy="21.2" r="2.6" fill="#fff" />
  </svg>`;
}
