import { decision } from '@svc/hooks';
import type { Caller } from '@svc/http';

/** The caller behind a bearer token; the first tap that knows it answers. */
export const authenticate = decision.firstAnswer<[bearer: string], Caller>('kernel.authenticate');

/** What an observation tells of a record; `before` is null for one that is new. */
export type Change<T> = { readonly before: T | null; readonly after: T };
