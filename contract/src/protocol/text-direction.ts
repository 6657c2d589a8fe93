/**
 * A sentence without the characters that turn the direction of what follows them. Must hold: a name that has one does not mirror the words around it. Whoever composes a sentence of
 * names calls this for the whole of it; a name by itself keeps them.
 */
export function withoutDirection(text: string): string {
  return text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '');
}
