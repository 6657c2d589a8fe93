import http from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** Nothing has come for so long: it is given up. */
const STALLED_MS = 60_000;

/** The server has answered, and not with the file. */
export class DownloadRefused extends Error {
  override readonly name = 'DownloadRefused';
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export interface DownloadFrom {
  readonly url: string;
  readonly token: string;
}

/** `fetch` would cost every agent 10 MB of memory. Rejects with DownloadRefused, or when the server cannot be reached. */
export function createDownload({ url, token }: DownloadFrom) {
  return async (path: `/${string}`, signal: AbortSignal): Promise<Readable> => {
    const answer = await get(`${url.replace(/\/+$/, '')}/api/v1${path}`, token, signal);
    if (answer.statusCode === 200) return answer;
    throw new DownloadRefused(answer.statusCode ?? 0, await readReason(answer));
  };
}

function get(url: string, token: string, signal: AbortSignal): Promise<http.IncomingMessage> {
  const { request } = url.startsWith('https:') ? https : http;
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const asked = request(url, { headers, signal, timeout: STALLED_MS }, resolve);
    asked.on('timeout', () => asked.destroy(new Error(`nothing has come for ${STALLED_MS / 1000} s`)));
    asked.on('error', reject);
    asked.end();
  });
}

async function readReason(answer: http.IncomingMessage): Promise<string> {
  const body = await text(answer);
  try {
    return (JSON.parse(body) as { error: { message: string } }).error.message;
  } catch {
    return `the server answered with ${answer.statusCode}`;
  }
}
