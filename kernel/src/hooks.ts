import { decision } from '@svc/hooks';
import type { Caller } from '@svc/http';

/** Returns the caller of a bearer token; the first tap that knows the token answers. */
export const authenticate = decision.firstAnswer<[bearer: string], Caller>('kernel.authenticate');

/** The change of a record; `before` is null for a new one. */
export type Change<T> = { readonly before: T | null; readonly after: T };
