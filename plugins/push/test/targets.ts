import type { EventDraft, EventRecord, Notifier } from '@svc/contract';
import { definePlugin, type Plugin } from '@svc/kernel';
import type { TestKernel } from '@svc/kernel/testing';
import { eventsRef } from '@svc/plugin-events';

/** A plugin of a third party that registers these targets. */
export function targets(...notifiers: readonly Notifier[]): Plugin {
  return definePlugin({
    name: 'targets',
    setup(ctx) {
      ctx.hooks.notifiers.tap(ctx.name, (collected) => notifiers.forEach((each) => collected.add(each)));
    },
  })();
}

/** A target that notes what it is sent; `isDown` makes it refuse. */
export class RecordingTarget implements Notifier {
  readonly name: string;
  readonly told: string[] = [];
  tries = 0;
  isDown = false;

  constructor(options: Partial<Omit<Notifier, 'send'>> = {}) {
    Object.assign(this, options);
    this.name = options.name ?? 'phone';
  }

  send({ title }: EventRecord): Promise<void> {
    this.tries += 1;
    if (this.isDown) return Promise.reject(new Error('the target answered 503'));
    this.told.push(title);
    return Promise.resolve();
  }
}

/** A target that never answers; with `heedsSignal: false` not even at the time-out. */
export class HangingTarget implements Notifier {
  open = 0;
  tries = 0;

  constructor(
    readonly name: string,
    private readonly heedsSignal = true,
  ) {}

  send(_event: EventRecord, signal: AbortSignal): Promise<void> {
    this.open += 1;
    this.tries += 1;
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        this.open -= 1;
        if (this.heedsSignal) reject(signal.reason as Error);
      });
    });
  }
}

export function append(kernel: TestKernel, ...drafts: Partial<EventDraft>[]): Promise<EventRecord[]> {
  const { append: store } = kernel.use(eventsRef);
  return kernel.ctx.transaction(async (tx) => {
    const records: EventRecord[] = [];
    for (const draft of drafts) records.push(await store(tx, { type: 'T', title: 't', ...draft }));
    return records;
  });
}

export const titled = (count: number): { title: string }[] =>
  Array.from({ length: count }, (_, index) => ({ title: String(index) }));
