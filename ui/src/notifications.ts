import type { EventRecord } from '@svc/contract';
import { navigate, originOf } from './paths.js';
import { read, write } from './preferences.js';

const KEY = 'svc.notifications';
const MOST_CHARS = 200;

/** unsupported: the browser has none here. blocked: the browser was told to show none of this page. */
export type NotificationState = 'unsupported' | 'blocked' | 'off' | 'on';

export function notificationState(): NotificationState {
  if (!('Notification' in window) || !window.isSecureContext) return 'unsupported';
  if (Notification.permission === 'denied') return 'blocked';
  return Notification.permission === 'granted' && read(KEY) === 'on' ? 'on' : 'off';
}

/** Asks the browser for permission, so call it for a click alone. */
export async function turnNotificationsOn(): Promise<NotificationState> {
  if (notificationState() === 'off' && (await Notification.requestPermission()) === 'granted')
    write(KEY, 'on');
  return notificationState();
}

export function turnNotificationsOff(): NotificationState {
  write(KEY, 'off');
  return notificationState();
}

/** Shows the event outside of the page, unless that is off or somebody looks at the page. Several tabs show it once. */
export function notify(event: EventRecord): void {
  if (notificationState() !== 'on' || (!document.hidden && document.hasFocus())) return;
  try {
    const notification = new Notification(event.title.slice(0, MOST_CHARS), {
      body: event.message.slice(0, MOST_CHARS),
      icon: '/favicon-failed.svg',
      tag: event.id,
    });
    notification.onclick = () => {
      window.focus();
      navigate(originOf(event));
      notification.close();
    };
  } catch {
    // Some browsers on phones have the constructor and refuse it.
  }
}
