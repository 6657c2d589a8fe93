/** Of UTF-8 in one encoded word, which has at most 75 characters. */
const WORD_BYTES = 45;
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** The value of a header: printable ASCII stays, anything else becomes encoded words of RFC 2047, which hold whole characters. */
export function encodeHeader(text: string): string {
  if (text === '' || (PLAIN.test(text) && !text.includes('=?'))) return text;
  const words: string[] = [];
  let word = '';
  for (const character of text) {
    if (Buffer.byteLength(word + character) > WORD_BYTES) {
      words.push(word);
      word = '';
    }
    word += character;
  }
  return [...words, word].map((each) => `=?UTF-8?B?${Buffer.from(each).toString('base64')}?=`).join(' ');
}
