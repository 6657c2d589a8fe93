interface Page {
  readonly limit: number;
  readonly before?: string;
}

interface Part<T> {
  readonly items: readonly T[];
  readonly truncated?: true;
}

const PAGE_ITEMS = 1000;

/** Every item of a list that goes on with `before`. */
export async function readAll<T extends { readonly id: string }>(
  read: (page: Page) => Promise<Part<T>>,
): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const last = all.at(-1);
    const part = await read({ limit: PAGE_ITEMS, ...(last && { before: last.id }) });
    all.push(...part.items);
    if (part.items.length < PAGE_ITEMS && part.truncated === undefined) return all;
  }
}
