import type { PushRequest } from './service.js';

/**
 * Sends one HTTP POST. Rejects unless the answer is 2xx; the reason holds neither the address nor a header, as both may be secret. A
 * redirect is not followed: it would hand the message to another address. The body of the answer is not read.
 */
export async function post(url: string, { headers, body }: PushRequest, signal: AbortSignal): Promise<void> {
  const init = { method: 'POST', headers: { 'User-Agent': 'svc', ...headers }, body, signal } as const;
  const answer = await fetch(url, { ...init, redirect: 'manual' }).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : new Error(toReason(error));
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`the target answered ${answer.status}`);
}

/** `fetch` hides why it failed in `cause`; the code alone is said, as the message may hold the address. */
function toReason(error: unknown): string {
  const { cause } = error as { cause?: NodeJS.ErrnoException };
  return cause?.code === undefined
    ? 'the target cannot be reached'
    : `the target cannot be reached (${cause.code})`;
}
