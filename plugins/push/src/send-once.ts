import type { EventRecord, Notifier } from '@svc/contract';
import { withoutSecrets, type PluginContext } from '@svc/kernel';

/** From the first look-up of the address to the answer. */
export const SEND_LIMIT_MS = 5_000;

export type SendContext = Pick<PluginContext, 'clock' | 'signal'>;

/** Rejects at the time-out and when the server closes, even if the notifier does not heed its signal. */
export async function sendOnce(ctx: SendContext, notifier: Notifier, event: EventRecord): Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const over = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
  const close = (): void => ending.abort(new Error('the server closes'));
  const expire = (): void => ending.abort(new Error(`no answer within ${SEND_LIMIT_MS / 1000} s`));
  const timer = ctx.clock.setTimeout(expire, SEND_LIMIT_MS);
  ctx.signal.addEventListener('abort', close);
  try {
    const send = async (): Promise<void> => notifier.send(event, signal);
    await Promise.race([send(), over]);
  } finally {
    timer.clear();
    ctx.signal.removeEventListener('abort', close);
  }
}

/** For the log and the list of deliveries, which show no secret of an address: a notifier of a third party may name it. */
export function toReason(error: unknown): string {
  const { message } = error instanceof Error ? error : new Error(String(error));
  return withoutSecrets(message).slice(0, 500);
}
