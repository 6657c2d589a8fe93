import { LitElement, css, html } from 'lit';
import { customElement, property, query } from 'lit/decorators.js';
import { icon } from '../components/icons.js';
import type { Page } from '../pages/registry.js';
import { paths } from '../paths.js';
import { singleKeysAreOn } from '../preferences.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { PAGE_KEYS, PALETTE_KEY } from './keys.js';

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [[PALETTE_KEY], 'Search everything, and do something'],
  [['/'], 'Search this page'],
  [['?'], 'Show these keys'],
  [['↑', '↓'], 'From row to row of a list'],
  [['Enter'], 'Open or do what has the focus'],
  [['Esc'], 'Close what is open'],
];

/** The keys of the console, in a dialog. `open()` shows it. */
@customElement('svc-key-help')
export class SvcKeyHelp extends LitElement {
  /** Those that the navigation has. */
  @property({ attribute: false }) pages: readonly Page[] = [];
  @query('dialog') private readonly dialog!: HTMLDialogElement;

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    css`
      :host {
        display: contents;
      }
      dialog {
        width: min(28rem, calc(100vw - 2rem));
        max-height: calc(100dvh - 2rem);
        padding: var(--space-5);
        border: 0;
        border-radius: var(--radius-lg);
        background: var(--color-overlay);
        color: var(--color-text);
        box-shadow: var(--shadow-overlay);
      }
      dialog::backdrop {
        background: var(--color-backdrop);
      }
      .head {
        display: flex;
        align-items: center;
        justify-content: space-between;
        margin-bottom: var(--space-3);
      }
      h2 {
        font-size: var(--text-lg);
      }
      dl {
        display: grid;
        gap: var(--space-2);
        padding-top: var(--space-3);
        border-top: 1px solid var(--color-line);
        font-size: var(--text-sm);
      }
      dl + dl {
        margin-top: var(--space-3);
      }
      dl > div {
        display: flex;
        flex-direction: row-reverse;
        align-items: center;
        justify-content: space-between;
        gap: var(--space-4);
      }
      dt {
        white-space: nowrap;
      }
      kbd {
        display: inline-block;
        min-width: 1.5rem;
        padding: 0 0.375rem;
        border: 1px solid var(--color-line-strong);
        border-radius: var(--radius-sm);
        background: var(--color-surface);
        font-family: var(--font-mono);
        font-size: var(--text-xs);
        line-height: 1.375rem;
        text-align: center;
      }
      .hint {
        margin-top: var(--space-4);
        color: var(--color-text-2);
        font-size: var(--text-xs);
      }
      .hint a {
        text-decoration: underline;
      }
    `,
  ];

  async open(): Promise<void> {
    await this.updateComplete;
    this.requestUpdate();
    if (!this.dialog.open) this.dialog.showModal();
  }

  override render() {
    const going = Object.entries(PAGE_KEYS).flatMap(([key, name]) => {
      const page = this.pages.find((each) => each.name === name);
      return page ? [[['g', key], page.title] as const] : [];
    });
    return html`<dialog aria-labelledby="headline">
      <div class="head">
        <h2 id="headline">Keys</h2>
        <button
          class="button plain icon"
          aria-label="Close"
          title="Close (Esc)"
          @click=${() => this.dialog.close()}
        >
          ${icon('cross', 14)}
        </button>
      </div>
      ${renderKeys(KEYS)} ${renderKeys(going)}
      <p class="hint">
        ${singleKeysAreOn() ? 'Keys without Ctrl can be turned off' : 'Keys without Ctrl are turned off'} in
        the
        <a href=${paths.settings()} @click=${() => this.dialog.close()}>settings</a>. On the page of a log and
        in tables, arrows go from line to line.
      </p>
    </dialog>`;
  }
}

function renderKeys(keys: readonly (readonly [keys: readonly string[], what: string])[]) {
  return html`<dl>
    ${keys.map(
      ([names, what]) =>
        html`<div>
          <dt>${names.map((name, at) => html`${at > 0 ? ' ' : ''}<kbd>${name}</kbd>`)}</dt>
          <dd>${what}</dd>
        </div>`,
    )}
  </dl>`;
}

declare global {
  interface HTMLElementTagNameMap {
    'svc-key-help': SvcKeyHelp;
  }
}
