import { LitElement, html, nothing } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import {
  notificationState,
  turnNotificationsOff,
  turnNotificationsOn,
  type NotificationState,
} from '../notifications.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { settingStyles } from '../styles/setting-styles.js';

const HINTS: Readonly<Record<NotificationState, string>> = {
  off: 'The browser tells of critical events while a tab of the console is open and you look elsewhere. It asks for permission first.',
  on: 'The browser tells of critical events while a tab of the console is open and you look elsewhere.',
  blocked:
    'This browser is set to show no notifications of the console. Allow them in its settings of this site, then reload.',
  unsupported: 'Browsers show notifications only of pages over HTTPS or from localhost.',
};

/** Whether this browser tells of critical events. */
@customElement('svc-notification-setting')
export class SvcNotificationSetting extends LitElement {
  @state() private setting = notificationState();

  static override styles = [baseStyles, controlStyles, settingStyles];

  override render() {
    const { setting } = this;
    const isPossible = setting === 'on' || setting === 'off';
    return html`<div class="setting">
      <div>
        <h3 id="title">Notifications</h3>
        <p>${HINTS[setting]}</p>
      </div>
      ${
        isPossible
          ? html`<button
              class="switch"
              role="switch"
              aria-checked=${setting === 'on' ? 'true' : 'false'}
              aria-labelledby="title"
              @click=${() => void this.#toggle()}
            ></button>`
          : nothing
      }
    </div>`;
  }

  async #toggle(): Promise<void> {
    this.setting = this.setting === 'on' ? turnNotificationsOff() : await turnNotificationsOn();
  }
}
