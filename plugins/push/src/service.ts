import type { EventRecord, PushTarget, SecretRef } from '@svc/contract';
import { serviceRef, type PluginContext } from '@svc/kernel';

/** What a target gets for an event. */
export interface PushRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Push {
  /** During setup: registers a target that takes an HTTP POST. Its address and token are read once, before the server listens. */
  addTarget(ctx: PluginContext, target: PushTarget, toRequest: (event: EventRecord) => PushRequest): void;
  /** From `ready` on. `what` says in errors what it is for, as in `the secret of target "phone"`. Throws a BootError without the secret. */
  readSecret(ctx: Pick<PluginContext, 'name' | 'log'>, what: string, ref: SecretRef): string;
}

export const pushRef = serviceRef<Push>('push');
