/** Waits until `condition` answers something truthy and returns it; a condition that throws counts as not yet. */
export async function until<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 20_000, everyMs = 10 }: { timeoutMs?: number; everyMs?: number } = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const answer = await condition();
      if (answer) return answer;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() > deadline) {
      throw new Error(`not within ${timeoutMs} ms: ${condition.toString()}`, { cause: lastError });
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
