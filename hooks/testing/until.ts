type Nothing = undefined | null | false | 0 | '';

export interface UntilOptions {
  /** What is waited for, in words for the error; left out: the condition as it is written. */
  readonly what?: string;
  readonly timeoutMs?: number;
  readonly everyMs?: number;
}

/** Waits until `condition` answers something truthy and returns it; a condition that throws counts as not yet. */
export async function until<T>(
  condition: () => T | Promise<T>,
  how: string | UntilOptions = {},
): Promise<Exclude<T, Nothing>> {
  const { what, timeoutMs = 25_000, everyMs = 10 } = typeof how === 'string' ? { what: how } : how;
  const deadline = performance.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const answer = await condition();
      if (answer) return answer as Exclude<T, Nothing>;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() > deadline) {
      const missing = what === undefined ? 'not' : `${what} did not come`;
      throw new Error(`${missing} within ${timeoutMs} ms: ${condition.toString()}`, { cause: lastError });
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
