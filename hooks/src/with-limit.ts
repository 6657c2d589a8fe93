/** Rejects when the work takes too long, without stopping it. Uses real time, also in tests with a fake clock. */
export async function withLimit<T>(limitMs: number, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${limitMs} ms`)), limitMs);
  });
  return Promise.race([work(), late]).finally(() => clearTimeout(timer));
}
