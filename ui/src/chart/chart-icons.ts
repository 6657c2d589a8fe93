import { html, svg } from 'lit';

/** The icons of a chart's own buttons, drawn as those of `components/icons.ts`, which this folder does not import. */
const PATHS = {
  reset: svg`<path d="M13.2 8a5.2 5.2 0 1 1-1.5-3.7M13.4 2.3v2.9h-2.9" />`,
  download: svg`<path d="M8 2v8M4.8 6.9 8 10.1l3.2-3.2M2.5 13.5h11" />`,
  expand: svg`<path d="M9.5 2.5h4v4M13.5 2.5 9 7M6.5 13.5h-4v-4M2.5 13.5 7 9" />`,
  close: svg`<path d="m4 4 8 8m0-8-8 8" />`,
};

export function chartIcon(name: keyof typeof PATHS) {
  return html`<svg
    class="icon"
    width="14"
    height="14"
    viewBox="0 0 16 16"
    aria-hidden="true"
    focusable="false"
  >
    ${PATHS[name]}
  </svg>`;
}
