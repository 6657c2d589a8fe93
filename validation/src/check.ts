import { Ajv, type AnySchemaObject } from 'ajv';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { failValidation, type Mistakes } from './errors.js';
import { explain } from './explain.js';
import { boundTextLength } from './text-length.js';

/** What is wrong with a value, in plain words; an empty list: nothing. Fills in defaults in place. */
export type Check = (value: unknown) => Mistakes;

// One schema with an $id may be part of many; strictTypes would refuse what TypeBox writes for enums and unions.
const settings = { verbose: true, addUsedSchema: false, strictTypes: false } as const;
const ajv = {
  fill: new Ajv({ ...settings, useDefaults: true }),
  leave: new Ajv(settings),
  /** Finds all that is wrong, which takes long: for single values alone. */
  thorough: new Ajv({ ...settings, allErrors: true }),
};
for (const each of Object.values(ajv)) {
  addFormats.default(each);
  boundTextLength(each);
}

/** Throws validation_error for a value whose JSON text is larger, in bytes of UTF-8. */
export function refuseLargeJson(path: string, value: unknown, maxBytes: number): void {
  const sizeBytes = Buffer.byteLength(JSON.stringify(value));
  if (sizeBytes > maxBytes)
    failValidation({ path, message: `must be at most ${maxBytes} bytes of JSON, not ${sizeBytes}` });
}

const validators = {
  quick: (schema: AnySchemaObject) => ajv.leave.compile(schema),
  thorough: (schema: AnySchemaObject) => ajv.thorough.compile(schema),
};

/**
 * `defaults: 'leave'` for partial updates, where what is left out must stay as it was. Must hold: the time that it takes grows no
 * faster than the value, right or wrong.
 */
export function compileCheck(schema: TSchema, defaults: 'fill' | 'leave' = 'fill'): Check {
  const isValid = ajv[defaults].compile(schema as AnySchemaObject);
  return (value) => (isValid(value) ? [] : explain(schema as AnySchemaObject, value, validators));
}
