import { Type, type Static } from 'typebox';

/** Every error code with its HTTP status and meaning. docs/errors.md is checked against this table. */
export const ERRORS = {
  validation_error: {
    status: 422,
    meaning: 'The body, a parameter or malformed JSON was refused; details.errors names each field.',
  },
  unauthorized: { status: 401, meaning: 'The token is missing, malformed, expired or revoked.' },
  forbidden: { status: 403, meaning: 'The token lacks the scope, or the Host or Origin is not allowed.' },
  not_found: { status: 404, meaning: 'No such path or record; a malformed identifier counts as unknown.' },
  method_not_allowed: {
    status: 405,
    meaning: 'The path exists, but not for this method; see the Allow header.',
  },
  request_timeout: { status: 408, meaning: 'The body came too slowly, and was given up.' },
  conflict: { status: 409, meaning: 'The state of the record does not allow this.' },
  payload_too_large: { status: 413, meaning: 'The body is over the limit of the endpoint.' },
  rate_limited: { status: 429, meaning: 'Too many requests; wait for the seconds in Retry-After.' },
  internal: { status: 500, meaning: 'A defect of the server; details.request_id finds it in the log.' },
  unavailable: { status: 503, meaning: 'The service, or a part that this needs, is not available now.' },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** One refused field: `path` as in `resources.gpu` (empty for the whole body), `message` says the fix. */
export interface Issue {
  path: string;
  message: string;
}

export const ErrorEnvelope = Type.Object(
  {
    error: Type.Object(
      {
        code: Type.Enum(Object.keys(ERRORS) as ErrorCode[]),
        message: Type.String(),
        details: Type.Object({}, { additionalProperties: true }),
      },
      { additionalProperties: false },
    ),
  },
  { $id: 'ErrorEnvelope', additionalProperties: false },
);
export type ErrorEnvelope = Static<typeof ErrorEnvelope>;
