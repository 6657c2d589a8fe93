/** Something with its time, in ms. */
export interface Dated<T> {
  readonly at: number;
  readonly what: T;
}

/** Items of several tracks, each by time, as one by time. */
export function* mergeByTime<T>(tracks: readonly Iterable<Dated<T>>[]): Generator<Dated<T>, undefined> {
  const heads = tracks.map((track) => {
    const items = track[Symbol.iterator]();
    return { items, next: items.next() };
  });
  for (;;) {
    let first: { readonly head: (typeof heads)[number]; readonly item: Dated<T> } | null = null;
    for (const head of heads)
      if (!head.next.done && (first === null || head.next.value.at < first.item.at))
        first = { head, item: head.next.value };
    if (first === null) return undefined;
    first.head.next = first.head.items.next();
    yield first.item;
  }
}
