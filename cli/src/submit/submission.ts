import { ApiError } from '@svc/client';
import type { JobSubmit } from '@svc/contract';
import { randomUUID } from 'node:crypto';
import { UsageError } from '../failure.js';

type Given<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** The fields that have a value. What is left out is for the server to decide. */
export function toGiven<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;
}

interface ResourceOptions {
  readonly gpu?: number | undefined;
  readonly cpuOnly?: boolean | undefined;
}

/** undefined: no option says which. */
export function toResources({ gpu, cpuOnly }: ResourceOptions): JobSubmit['resources'] | undefined {
  const resources = toGiven({ gpu, cpu_only: cpuOnly || undefined });
  return Object.keys(resources).length > 0 ? resources : undefined;
}

/** Throws UsageError when both are given. */
export function checkFollow({ follow, json }: { readonly follow?: boolean; readonly json?: boolean }): void {
  if (follow && json) throw new UsageError('--follow cannot be used with --json: it prints the log');
}

/** An answer that was lost on its way is asked for again: the key keeps it one record. */
export async function createOnce<T>(
  create: (headers: { readonly 'Idempotency-Key': string }) => Promise<T>,
): Promise<T> {
  const headers = { 'Idempotency-Key': randomUUID() };
  return create(headers).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'network') throw error;
    return create(headers);
  });
}
