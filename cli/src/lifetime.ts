/** The message of a long-running command to the `svc up` that started it, once it is ready. */
export interface ReadyMessage {
  readonly ready: Readonly<Record<string, string>>;
}

/** Notifies the `svc up` that started this process, if there is one. */
export function notifyReady(ready: ReadyMessage['ready']): void {
  process.send?.({ ready } satisfies ReadyMessage);
}

/** Aborts at SIGTERM, SIGINT or SIGHUP, or when the `svc up` that started this process has ended. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, abort);
  if (process.channel) {
    process.once('disconnect', abort);
    process.channel.unref();
  }
  return stop.signal;
}

export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
