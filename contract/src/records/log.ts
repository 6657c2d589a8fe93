import { Type, type Static } from 'typebox';
import { LOG_STREAMS } from '../protocol/enums.js';
import { Timestamp, strict } from '../route.js';

export const LogStream = Type.Enum([...LOG_STREAMS]);
export type LogStream = Static<typeof LogStream>;

/** One line; `seq` counts from 0 per (job, attempt) over both streams. */
export const LogLine = strict(
  { seq: Type.Integer({ minimum: 0 }), stream: LogStream, ts: Timestamp, text: Type.String() },
  { $id: 'LogLine' },
);
export type LogLine = Static<typeof LogLine>;

/** A line that has no end yet, as it is at the moment; an empty text: there is none any more. */
export const PartialLine = strict({ stream: LogStream, text: Type.String() }, { $id: 'PartialLine' });
export type PartialLine = Static<typeof PartialLine>;
