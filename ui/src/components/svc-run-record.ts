import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { toEnvironment } from '../data/environment.js';
import type { Run } from '../data/runs.js';
import { baseStyles, panelStyles } from '../styles/shared.js';
import './svc-flat-record.js';
import './svc-notice.js';

/** The config of a run, or what it ran in. */
@customElement('svc-run-record')
export class SvcRunRecord extends LitElement {
  @property({ attribute: false }) run!: Run;
  @property() shown: 'config' | 'environment' = 'config';

  static override styles = [
    baseStyles,
    panelStyles,
    css`
      .panel + .panel {
        margin-top: var(--space-4);
      }
      .count {
        color: var(--color-text-3);
        font-size: var(--text-xs);
      }
      ul {
        display: grid;
        grid-template-columns: repeat(auto-fill, minmax(min(14rem, 100%), 1fr));
        gap: 0 var(--space-4);
        padding: var(--space-3) var(--space-4);
        font-family: var(--font-mono);
        font-size: var(--text-xs);
        overflow-wrap: anywhere;
      }
    `,
  ];

  override render() {
    return this.shown === 'config' ? this.#renderConfig() : this.#renderEnvironment();
  }

  #renderConfig() {
    const { config } = this.run;
    if (Object.keys(config).length === 0)
      return html`<section class="panel">
        <svc-notice
          headline="No config"
          command=${'import svc\nrun = svc.init(config={"lr": 3e-4, "batch_size": 64})'}
          >Give the settings of the training to svc.init(), and runs can be compared by them.</svc-notice
        >
      </section>`;
    return html`<section class="panel">
      <svc-flat-record heading="Config" .value=${config}></svc-flat-record>
    </section>`;
  }

  #renderEnvironment() {
    const { facts, packages } = toEnvironment(this.run.environment);
    if (Object.keys(facts).length === 0 && packages.length === 0)
      return html`<section class="panel">
        <svc-notice headline="No environment"
          >The Python SDK sends it with svc.init(): host, versions, GPUs, packages and the commit.</svc-notice
        >
      </section>`;
    return html`<section class="panel">
        <svc-flat-record heading="Environment" .value=${facts}></svc-flat-record>
      </section>
      ${packages.length === 0 ? nothing : this.#renderPackages(packages)}`;
  }

  #renderPackages(packages: readonly string[]) {
    return html`<section class="panel">
      <div class="panel-head">
        <h2>Packages</h2>
        <span class="count">${packages.length}</span>
      </div>
      <ul aria-label="Packages">
        ${packages.map((name) => html`<li>${name}</li>`)}
      </ul>
    </section>`;
  }
}
