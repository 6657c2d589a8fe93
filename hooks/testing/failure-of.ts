/** The error of something that must fail. */
export async function failureOf(work: () => unknown): Promise<Error> {
  try {
    await work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it should have failed');
}
