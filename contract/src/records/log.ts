import { Type, type Static } from 'typebox';
import { Timestamp, strict } from '../route.js';

export const LogStream = Type.Enum(['stdout', 'stderr']);
export type LogStream = Static<typeof LogStream>;

/** One line; `seq` counts from 0 per (job, attempt) over both streams. */
export const LogLine = strict(
  { seq: Type.Integer({ minimum: 0 }), stream: LogStream, ts: Timestamp, text: Type.String() },
  { $id: 'LogLine' },
);
export type LogLine = Static<typeof LogLine>;

/** A longer line is split into pieces of at most this many bytes. */
export const MAX_LINE_BYTES = 16 * 1024;
