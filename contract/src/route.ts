import { Type, type Static, type TObject, type TSchema } from 'typebox';
import type { SCOPES } from './protocol/enums.js';
import { MIB } from './protocol/limits.js';

export type Scope = (typeof SCOPES)[number];

/**
 * What a route asks of its caller. `none`: no token at all. `ingest`: a run ingest token for the run in the path
 * (or in the handler's judgement), or any token of sdk or write scope. `read-or-agent`: a token of read, agent or write scope.
 * `any`: a valid token of whatever scope.
 */
export type RouteScope = Scope | 'read-or-agent' | 'ingest' | 'any' | 'none';

/** A limit of whole KiB or MiB in words: `1 KiB`, `16 MiB`. */
export function sizeText(bytes: number): string {
  return bytes < MIB ? `${bytes / 1024} KiB` : `${bytes / MIB} MiB`;
}

/** An endpoint as data. `path` is relative to /api/v1, in OpenAPI form; `{name:path}` also takes slashes. */
export interface RouteSpec<
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Answers extends Record<number, TSchema> = Record<number, TSchema>,
> {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: `/${string}`;
  readonly scope: RouteScope;
  readonly summary: string;
  readonly query?: Query;
  /** Left out: a body is refused unless it is empty or `{}`. */
  readonly body?: Body;
  /** The media type of a body that is no JSON: the handler reads it as it comes, up to `bodyLimitBytes`. */
  readonly upload?: string;
  readonly bodyLimitBytes?: number;
  /** Schema of the JSON answer by 2xx status. Absent for `stream` and `download`. */
  readonly answers?: Answers;
  /** `sse`: text/event-stream whose data lines have the `event` schema. `download`: a streamed file. */
  readonly stream?: 'sse' | 'download';
  readonly event?: TSchema;
  /** `sse`: of the events that have a name (`event:`). A client ignores those that it does not know. */
  readonly namedEvents?: Readonly<Record<string, TSchema>>;
}

export type QueryOf<R> = R extends { query: infer Q extends TObject } ? Static<Q> : Record<string, never>;
export type BodyOf<R> = R extends { body: infer B extends TSchema } ? Static<B> : undefined;
type Param<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${infer Plain}:path` ? Plain : Name) | Param<Rest>
  : never;
export type ParamsOf<R> = R extends { path: infer P extends string } ? { [K in Param<P>]: string } : never;
export type AnswerOf<R> = R extends { answers: infer A extends Record<number, TSchema> }
  ? { [S in keyof A & number]: { status: S; body: Static<A[S]> } }[keyof A & number]
  : never;

/** Declares a route, keeping its literal types. */
export function route<const R extends RouteSpec>(spec: R): R {
  return spec;
}

/** There when an answer was cut because it would be too large. `remedy`: how the rest can be read. */
const truncatedWith = (remedy: string) =>
  Type.Optional(Type.Literal(true, { description: `The answer was cut at 8 MiB: ${remedy}.` }));

export const truncated = truncatedWith('ask again with `before` for what comes behind the last item');

/** `{items: [...]}` of that record. `remedy`: for a list that cannot go on with `before`. */
export function listOf<T extends TSchema>(item: T, remedy?: string) {
  const cut = remedy === undefined ? truncated : truncatedWith(remedy);
  return Type.Object({ items: Type.Array(item), truncated: cut }, { additionalProperties: false });
}

/** Which part of a list, newest first: `?limit=` items behind the one named by `?before=`. */
export function page(defaultLimit?: number) {
  const before = Type.String({
    minLength: 1,
    description: 'The id of the last item of the answer before: the list goes on behind it.',
  });
  return { before: Type.Optional(before), limit: limit(defaultLimit) };
}

/** `?limit=` with the contract's default and maximum. */
export function limit(defaultLimit = 100, maximum = 1000) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum, default: defaultLimit }));
}

/** An object that refuses unknown fields. */
export function strict<const P extends Record<string, TSchema>>(
  properties: P,
  options: { $id?: string; description?: string } = {},
) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/**
 * What every text matches that is stored as text: without NUL, which PostgreSQL refuses, and without half a surrogate pair, which
 * a database would store as another character. An open object (JsonObject) may hold both: it is stored as JSON.
 */
export const PLAIN = '^[^\\u0000\\ud800-\\udfff]*$';

/** Text of people, line breaks included. */
export function text(maxLength: number, minLength = 0) {
  const description = `Text of ${minLength} to ${maxLength} Unicode characters, none of them NUL.`;
  return Type.String({ minLength, maxLength, pattern: PLAIN, description });
}

/** Up to the last moment that a JavaScript Date can hold. */
export const TIME_BOUNDS = { minimum: 0, maximum: 8_640_000_000_000_000 };
export const Timestamp = Type.Integer({
  ...TIME_BOUNDS,
  description: 'Milliseconds since the Unix epoch.',
});
