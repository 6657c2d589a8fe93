/** A value as YAML, whatever tags it has. Throws an Error whose message is one line. */
export async function parseYaml(text: string, options: { intAsBigInt?: true } = {}): Promise<unknown> {
  const { parse } = await import('yaml');
  try {
    return parse(text, { ...options, logLevel: 'error', maxAliasCount: 100 });
  } catch (error) {
    throw new Error((error as Error).message.split('\n')[0], { cause: error });
  }
}
