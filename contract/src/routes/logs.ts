import { Type } from 'typebox';
import { Timestamp, route, strict } from '../route.js';
import { LOG_FORMATS } from '../protocol/enums.js';
import { LogLine, LogStream, PartialLine } from '../records/log.js';

/** As both databases hold it. */
const attempt = Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }));

export const tailLogs = route({
  id: 'logs.tail',
  method: 'GET',
  path: '/jobs/{job_id}/logs',
  scope: 'read',
  summary:
    'The tail of the log of one attempt (the newest when left out), or with `from` the lines from that one on. It is cut at 8 MiB (`truncated`): the newest lines stay, with `from` the oldest.',
  query: strict({
    stream: Type.Optional(LogStream),
    tail: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 2000, default: 200, description: 'How many lines at most.' }),
    ),
    from: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'The seq of the first line, in place of the newest lines: 0 is the start of the log.',
      }),
    ),
    attempt,
    search: Type.Optional(
      Type.String({ minLength: 1, maxLength: 500, description: 'Only lines that hold this text.' }),
    ),
  }),
  answers: {
    200: strict(
      {
        job_id: Type.String(),
        attempt: Type.Integer(),
        lines: Type.Array(LogLine),
        dropped: Type.Integer(),
        partial: Type.Optional(
          Type.Array(strict({ ...PartialLine.properties, ts: Timestamp }), {
            maxItems: 2,
            description:
              'Lines that have no end yet, such as a progress bar, as they are at the moment: at most one of each stream. They are not stored, and are not searched. Left out: there is none.',
          }),
        ),
        truncated: Type.Optional(
          Type.Literal(true, {
            description:
              'Lines were left out, for at most 8 MiB are shown: older ones of the tail, later ones with `from`.',
          }),
        ),
      },
      { $id: 'LogTail' },
    ),
  },
});

export const streamLogs = route({
  id: 'logs.stream',
  method: 'GET',
  path: '/jobs/{job_id}/logs/stream',
  scope: 'read',
  summary:
    'Live lines after a recent tail, or all lines from one on; the id is the seq, `event: end` when the attempt is over. `event: partial` shows a line that has no end yet, such as a progress bar, at most once a second for each stream and without an id; its text is empty when there is none any more, and the finished line follows under its seq.',
  query: strict({
    stream: Type.Optional(LogStream),
    tail: Type.Optional(Type.Integer({ minimum: 0, maximum: 2000, default: 200 })),
    from: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'The seq of the first line, in place of a tail: 0 sends the whole log.',
      }),
    ),
    attempt,
  }),
  stream: 'sse',
  event: LogLine,
  namedEvents: { partial: PartialLine },
});

export const downloadLogs = route({
  id: 'logs.download',
  method: 'GET',
  path: '/jobs/{job_id}/logs/download',
  scope: 'read',
  summary: 'The whole log of one attempt.',
  query: strict({
    attempt,
    stream: Type.Optional(LogStream),
    since: Type.Optional(Timestamp),
    format: Type.Optional(
      Type.Enum([...LOG_FORMATS], { default: 'text', description: 'jsonl: each line as a JSON object.' }),
    ),
    timestamps: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Each line of text after its time in UTC, as in 2026-01-31T12:00:05.123Z.',
      }),
    ),
  }),
  stream: 'download',
});
