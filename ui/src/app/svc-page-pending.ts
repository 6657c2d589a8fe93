import { LitElement, html } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { loadFailure } from '../components/load-failure.js';
import { renderWaiting, renderWaitingHead, type Crumb } from '../components/page-waiting.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, pageStyles } from '../styles/shared.js';

/** A page whose code is on its way, or did not arrive. */
@customElement('svc-page-pending')
export class SvcPagePending extends LitElement {
  @property() heading = '';
  @property({ attribute: false }) above: Crumb | null = null;
  @property({ type: Boolean }) failed = false;

  static override styles = [baseStyles, iconStyles, pageStyles];

  override render() {
    return this.failed
      ? html`${renderWaitingHead(this.heading, this.above)}${loadFailure()}`
      : renderWaiting(this.heading, this.above);
  }
}
