const MORE = '…';

/** At most so many bytes of UTF-8. A text that is longer ends in an ellipsis, and no character is cut in two. */
export function cutToBytes(text: string, most: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= most) return text;
  const kept = bytes.subarray(0, most - Buffer.byteLength(MORE));
  // A decoder that expects more leaves out a character that is not complete.
  return new TextDecoder().decode(kept, { stream: true }) + MORE;
}
