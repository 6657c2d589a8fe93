import { html, svg, type SVGTemplateResult, type TemplateResult } from 'lit';

/** Line icons on a 16 × 16 grid in the colour of the text. States differ by shape, not by colour alone. */
const PATHS = {
  queued: svg`<circle cx="8" cy="8" r="5.75" stroke-dasharray="2.4 2.1" />`,
  dispatching: svg`<circle cx="8" cy="8" r="5.75" stroke-dasharray="2.4 2.1" /><path d="M5.6 8h4.6M8.4 6l2 2-2 2" />`,
  running: svg`<circle cx="8" cy="8" r="5.75" opacity="0.3" /><path d="M8 2.25A5.75 5.75 0 0 1 13.75 8" />`,
  succeeded: svg`<circle cx="8" cy="8" r="6.5" class="solid" /><path class="cut" d="m5.2 8.2 2 2 3.7-4.2" />`,
  failed: svg`<path class="solid" d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z" /><path class="cut" d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" />`,
  cancelled: svg`<circle cx="8" cy="8" r="5.75" /><path d="m4.1 11.9 7.8-7.8" />`,
  lost: svg`<path d="M8 1.6 14.4 8 8 14.4 1.6 8z" /><path d="M6.7 6.7a1.35 1.35 0 1 1 1.9 1.3c-.4.2-.6.5-.6.9M8 10.7v.1" />`,
  imported: svg`<path d="M8 2v7M5.2 6.4 8 9.2l2.8-2.8M2.5 10.5v2.2c0 .5.3.8.8.8h9.4c.5 0 .8-.3.8-.8v-2.2" />`,
  online: svg`<circle cx="8" cy="8" r="5.75" opacity="0.35" /><circle cx="8" cy="8" r="3" class="solid" stroke="none" />`,
  offline: svg`<circle cx="8" cy="8" r="5.75" /><path d="M5.8 5.8l4.4 4.4m0-4.4-4.4 4.4" />`,
  draining: svg`<circle cx="8" cy="8" r="5.75" /><path d="M2.4 8.4h11.2A5.7 5.7 0 0 1 8 13.8a5.7 5.7 0 0 1-5.6-5.4z" class="solid" stroke="none" />`,
  info: svg`<circle cx="8" cy="8" r="5.75" /><path d="M8 7.5v3.2M8 5.2v.1" />`,
  warning: svg`<path d="M8 2.2 14.4 13.4H1.6z" /><path d="M8 6.6v3M8 11.3v.1" />`,
  critical: svg`<path class="solid" d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z" /><path class="cut" d="M8 4.6v4M8 11v.1" />`,
  overview: svg`<rect x="2" y="2" width="5" height="7" rx="1.2" /><rect x="9" y="2" width="5" height="4" rx="1.2" /><rect x="2" y="11.5" width="5" height="2.5" rx="1" /><rect x="9" y="8.5" width="5" height="5.5" rx="1.2" />`,
  jobs: svg`<rect x="2" y="2.75" width="12" height="4" rx="1.2" /><rect x="2" y="9.25" width="12" height="4" rx="1.2" /><path d="M4.6 4.75h.1M4.6 11.25h.1" />`,
  runs: svg`<path d="M2.5 2v10.3c0 .7.5 1.2 1.2 1.2H14" /><path d="M5 4.5c1 4.6 2.8 5.6 4.6 5.6 1.6 0 2.6-.7 4-.7" />`,
  compare: svg`<path d="M2 12.5c3 0 4-8 7-8 2 0 2.6 2 5 2" /><path d="M2 4.5c3 0 4 8 7 8 2 0 2.6-2 5-2" opacity="0.55" />`,
  projects: svg`<path d="M2 4.2c0-.7.5-1.2 1.2-1.2h3l1.5 1.8h5.1c.7 0 1.2.5 1.2 1.2v5.8c0 .7-.5 1.2-1.2 1.2H3.2c-.7 0-1.2-.5-1.2-1.2z" />`,
  checkpoints: svg`<path d="M4 2.5h8v11L8 10.6 4 13.5z" />`,
  evaluations: svg`<rect x="3" y="2.5" width="10" height="11" rx="1.4" /><path d="m5.4 6.2 1 1 1.7-2M5.4 10.4l1 1 1.7-2M10 6.3h.9M10 10.5h.9" />`,
  nodes: svg`<rect x="4" y="4" width="8" height="8" rx="1.4" /><path d="M6.4 1.8V4m3.2-2.2V4M6.4 12v2.2m3.2-2.2v2.2M1.8 6.4H4M1.8 9.6H4m8-3.2h2.2M12 9.6h2.2" />`,
  events: svg`<path d="M1.8 8h2.7l1.8-4.8 3.2 9.6L11.4 8h2.8" />`,
  settings: svg`<path d="M2 4.5h6.2M11.8 4.5H14M2 11.5h2.2M7.8 11.5H14" /><circle cx="10" cy="4.5" r="1.8" /><circle cx="6" cy="11.5" r="1.8" />`,
  tokens: svg`<circle cx="5" cy="8" r="2.8" /><path d="M7.8 8H14v2.4M11.2 8v2" />`,
  more: svg`<path d="M3.5 8h.1M8 8h.1M12.5 8h.1" stroke-width="2.4" />`,
  keyboard: svg`<rect x="1.5" y="4" width="13" height="8" rx="1.4" /><path d="M4 6.6h.1M6.6 6.6h.1M9.3 6.6h.1M12 6.6h.1M5 9.5h6" />`,
  page: svg`<rect x="2" y="2.5" width="12" height="11" rx="1.6" /><path d="M2 6h12M6.2 6v7.5" />`,
  flag: svg`<path d="M4 14V2.5M4 3h8l-2 2.75L12 8.5H4" />`,
  theme: svg`<circle cx="8" cy="8" r="5.75" /><path class="solid" stroke="none" d="M8 2.25a5.75 5.75 0 0 1 0 11.5z" />`,
  sun: svg`<circle cx="8" cy="8" r="2.9" /><path d="M8 1.3v1.4M8 13.3v1.4M1.3 8h1.4M13.3 8h1.4M3.3 3.3l1 1M11.7 11.7l1 1M12.7 3.3l-1 1M4.3 11.7l-1 1" />`,
  moon: svg`<path d="M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1z" />`,
  search: svg`<circle cx="7" cy="7" r="4.5" /><path d="m10.4 10.4 3.4 3.4" />`,
  copy: svg`<rect x="5.5" y="5.5" width="8" height="8" rx="1.4" /><path d="M10.5 3.2c0-.5-.4-.7-.8-.7H3.6c-.6 0-1.1.5-1.1 1.1v6.1c0 .5.3.8.8.8" />`,
  check: svg`<path d="m3 8.5 3.2 3.2L13 4.6" />`,
  cross: svg`<path d="m4 4 8 8m0-8-8 8" />`,
  plus: svg`<path d="M8 3v10M3 8h10" />`,
  edit: svg`<path d="M9.8 3.6 12.4 6.2 5.6 13H3v-2.6zM8.4 5l2.6 2.6M8.5 13.2h5" />`,
  up: svg`<path d="m4 9.8 4-4 4 4" />`,
  down: svg`<path d="m4 6.2 4 4 4-4" />`,
  left: svg`<path d="m9.8 4-4 4 4 4" />`,
  right: svg`<path d="m6.2 4 4 4-4 4" />`,
  toStart: svg`<path d="M8 13.5v-8M4.5 9 8 5.5 11.5 9M3.5 2.5h9" />`,
  toEnd: svg`<path d="M8 2.5v8M4.5 7 8 10.5 11.5 7M3.5 13.5h9" />`,
  download: svg`<path d="M8 2v8M4.8 6.9 8 10.1l3.2-3.2M2.5 13.5h11" />`,
  wrap: svg`<path d="M2 3.5h12M2 8h9.3a2.4 2.4 0 0 1 0 4.8H8.5M10 11l-1.8 1.8L10 14.6M2 12.8h3" />`,
  foreign: svg`<circle cx="8" cy="5.2" r="2.7" /><path d="M2.6 13.8c.5-2.9 2.6-4.5 5.4-4.5s4.9 1.6 5.4 4.5" />`,
  quarantined: svg`<rect x="3.2" y="7" width="9.6" height="6.8" rx="1.3" /><path d="M5.3 7V5a2.7 2.7 0 0 1 5.4 0v2" />`,
  clock: svg`<circle cx="8" cy="8" r="5.75" /><path d="M8 4.8V8l2.2 1.4" />`,
  retry: svg`<path d="M13.2 8a5.2 5.2 0 1 1-1.5-3.7M13.4 2.3v2.9h-2.9" />`,
  stop: svg`<circle cx="8" cy="8" r="5.75" /><rect x="5.9" y="5.9" width="4.2" height="4.2" rx="0.6" class="solid" stroke="none" />`,
  signOut: svg`<path d="M6.5 2.5h-3c-.6 0-1 .4-1 1v9c0 .6.4 1 1 1h3M10.3 10.9 13.2 8l-2.9-2.9M13 8H6.3" />`,
  eye: svg`<path d="M1.5 8S3.8 3.6 8 3.6 14.5 8 14.5 8 12.2 12.4 8 12.4 1.5 8 1.5 8z" /><circle cx="8" cy="8" r="1.9" />`,
  rising: svg`<path d="m3 11.5 4-4 2 2 4-4.5M9.8 5H13v3.2" />`,
  falling: svg`<path d="m3 4.5 4 4 2-2 4 4.5M9.8 11H13V7.8" />`,
  steady: svg`<path d="M2.5 8h10.6M10.6 5.5 13.1 8l-2.5 2.5" />`,
  live: svg`<circle cx="8" cy="8" r="2" class="solid" stroke="none" /><path d="M4.8 11.2a4.5 4.5 0 0 1 0-6.4M11.2 4.8a4.5 4.5 0 0 1 0 6.4" />`,
  away: svg`<path d="M4.8 11.2a4.5 4.5 0 0 1-.9-4.9M12.1 9.7a4.5 4.5 0 0 0-.9-4.9M2.5 2.5l11 11" />`,
} satisfies Record<string, SVGTemplateResult>;

export type IconName = keyof typeof PATHS;

export function isIconName(name: string): name is IconName {
  return Object.hasOwn(PATHS, name);
}

/** Decorative: what it means must also be in the text beside it, or in the label of its button. */
export function icon(name: IconName, size = 16): TemplateResult {
  return html`<svg
    class="icon icon-${name}"
    width=${size}
    height=${size}
    viewBox="0 0 16 16"
    aria-hidden="true"
    focusable="false"
  >
    ${PATHS[name]}
  </svg>`;
}
