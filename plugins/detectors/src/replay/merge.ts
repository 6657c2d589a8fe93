import type { Dated } from './history.js';

/** Items of several lists, each by time, as one by time. A time that goes back within a list counts as the time before it. */
export function* mergeByTime<T>(tracks: readonly (readonly Dated<T>[])[]): Generator<Dated<T>> {
  const heads = tracks.map((items) => ({ items, next: 0 }));
  let now = -Infinity;
  for (;;) {
    let first: (typeof heads)[number] | null = null;
    for (const head of heads) {
      const item = head.items[head.next];
      if (item && (first === null || item.at < (first.items[first.next] as Dated<T>).at)) first = head;
    }
    if (first === null) return;
    const { at, what } = first.items[first.next++] as Dated<T>;
    now = Math.max(now, at);
    yield { at: now, what };
  }
}
