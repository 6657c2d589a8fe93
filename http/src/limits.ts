import { MIB } from '@svc/contract';

/** Limits for clients. Times are real time, also in tests with a fake clock. */
export interface HttpLimits {
  /** Open sockets of all kinds; further ones are closed at once. */
  readonly connections: number;
  readonly headerBytes: number;
  /** From the opening of a connection, or the first byte of a further request, to the end of the headers. */
  readonly headersMs: number;
  /** Between two requests of one connection. */
  readonly keepAliveMs: number;
  /** A request is aborted when none of its body has arrived for this time; an upload that progresses may take any time. */
  readonly stalledBodyMs: number;
  /** A client that receives nothing of its answer for this time is disconnected. */
  readonly stalledAnswerMs: number;
  /** How long a client may go on sending its body after it has been answered. */
  readonly unreadBodyMs: number;
  /** Open event streams. */
  readonly streams: number;
  readonly streamsPerToken: number;
  /** Unsent data of all event streams together. */
  readonly streamBytes: number;
  /** How often the tokens of open answers and sockets are checked. */
  readonly tokenCheckMs: number;
  /** Between two pings of a WebSocket; it is terminated after MISSED_PINGS without an answer. */
  readonly pingMs: number;
  /** A WebSocket with more unsent data than this is terminated. */
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
