import type { IncomingMessage } from 'node:http';

const MAX_BYTES = 4096;
const MAX_MESSAGE_CHARS = 500;
const PATIENCE_MS = 2000;

/** What the error envelope of a refusal says; null when there is none. Never rejects, and does not wait for long. */
export async function readErrorMessage(answer: IncomingMessage): Promise<string | null> {
  const timer = setTimeout(() => answer.destroy(), PATIENCE_MS);
  let text = '';
  try {
    for await (const piece of answer.setEncoding('utf8')) {
      text += String(piece);
      if (text.length > MAX_BYTES) break;
    }
    const { error } = JSON.parse(text) as { error?: { message?: unknown } };
    return typeof error?.message === 'string' ? error.message.slice(0, MAX_MESSAGE_CHARS) : null;
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
