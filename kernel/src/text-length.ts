import { _, type Ajv } from 'ajv';

type Rule = (text: string, limit: number) => boolean;

/** Of these, one character or two make one of those that are counted: most texts are judged without counting. */
const RULES: Readonly<Record<'maxLength' | 'minLength', Rule>> = {
  maxLength: (text, limit) =>
    text.length <= limit || (text.length <= 2 * limit && countCharacters(text) <= limit),
  minLength: (text, limit) =>
    text.length >= 2 * limit || (text.length >= limit && countCharacters(text) >= limit),
};

/** Ajv's own rules of length count every character, which for a text of 16 MiB takes long, several times over. */
export function boundTextLength(ajv: Ajv): void {
  for (const keyword of Object.keys(RULES) as (keyof typeof RULES)[]) {
    ajv.removeKeyword(keyword).addKeyword({
      keyword,
      type: 'string',
      schemaType: 'number',
      before: 'pattern',
      error: { message: keyword, params: ({ schemaCode }) => _`{limit: ${schemaCode}}` },
      compile: (limit: number) => (text: string) => RULES[keyword](text, limit),
    });
  }
}

function countCharacters(text: string): number {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
}
