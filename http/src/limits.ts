import { MIB } from '@svc/contract';

/** What clients may take of the server. Waits are in real time, also in tests with a fake clock. */
export interface HttpLimits {
  /** Sockets of all kinds; further ones are closed at once. */
  readonly connections: number;
  readonly headerBytes: number;
  /** From the opening of a connection, or the first byte of a further request, to the end of the headers. */
  readonly headersMs: number;
  /** Between two requests of one connection. */
  readonly keepAliveMs: number;
  /** A request is given up when nothing of its body has come for so long; one that keeps flowing may take any time. */
  readonly stalledBodyMs: number;
  /** A client that takes nothing of its answer for so long is cut. */
  readonly stalledAnswerMs: number;
  /** After an answer that did not wait for the whole body, the client may go on sending for so long. */
  readonly unreadBodyMs: number;
  /** Event streams that are open at once. */
  readonly streams: number;
  readonly streamsPerToken: number;
  /** What may be on its way to all event streams together. */
  readonly streamBytes: number;
  /** How often the tokens of open answers and sockets are asked about. */
  readonly tokenCheckMs: number;
  /** Between two pings of a WebSocket; it is cut when it has left MISSED_PINGS unanswered. */
  readonly pingMs: number;
  /** A WebSocket to which more is waiting to be sent is cut. */
  readonly socketBytes: number;
}

export const MISSED_PINGS = 4;

export const DEFAULT_LIMITS: HttpLimits = {
  connections: 5_000,
  headerBytes: 16 * 1024,
  headersMs: 20_000,
  keepAliveMs: 5_000,
  stalledBodyMs: 60_000,
  stalledAnswerMs: 120_000,
  unreadBodyMs: 30_000,
  streams: 2_000,
  streamsPerToken: 1_500,
  streamBytes: 256 * MIB,
  tokenCheckMs: 500,
  pingMs: 30_000,
  socketBytes: 32 * MIB,
};
