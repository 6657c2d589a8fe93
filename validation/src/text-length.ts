import { _, type Ajv, type Code, type Name } from 'ajv';

type IsWrong = (text: Name, limit: number, count: Name) => Code;

/** A character has one or two UTF-16 units, so most texts need no counting. */
const RULES: Readonly<Record<'maxLength' | 'minLength', IsWrong>> = {
  maxLength: (text, limit, count) =>
    _`${text}.length > ${limit} && (${text}.length > ${2 * limit} || ${count}(${text}) > ${limit})`,
  minLength: (text, limit, count) =>
    _`${text}.length < ${2 * limit} && (${text}.length < ${limit} || ${count}(${text}) < ${limit})`,
};

/** Replaces Ajv's rules for length, which count every character, several times: that is slow for a text of 16 MiB. */
export function boundTextLength(ajv: Ajv): void {
  for (const [keyword, isWrong] of Object.entries(RULES)) {
    ajv.removeKeyword(keyword).addKeyword({
      keyword,
      type: 'string',
      schemaType: 'number',
      before: 'pattern',
      error: { message: keyword, params: ({ schemaCode }) => _`{limit: ${schemaCode}}` },
      code: (cxt) => {
        const count = cxt.gen.scopeValue('func', { ref: countCharacters });
        cxt.fail(isWrong(cxt.data, cxt.schema as number, count));
      },
    });
  }
}

export function countCharacters(text: string): number {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
}
