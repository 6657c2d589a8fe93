import { Ajv, type AnySchemaObject } from 'ajv';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { failValidation, type Mistakes } from './errors.js';
import { explain } from './explain.js';
import { boundTextLength } from './text-length.js';

/** Returns what is wrong with a value, as messages for the user; empty when it is valid. Fills in defaults in place. */
export type Check = (value: unknown) => Mistakes;

// addUsedSchema: one schema with an $id may be part of many. strictTypes would refuse TypeBox's enums and unions.
const settings = { verbose: true, addUsedSchema: false, strictTypes: false } as const;
const ajv = {
  fill: new Ajv({ ...settings, useDefaults: true }),
  leave: new Ajv(settings),
  /** Finds all errors, which is slow: only for single values. */
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
 * `defaults: 'leave'` is for partial updates, where missing fields must stay unchanged. Must hold: the time is linear in the size of the
 * value, valid or not.
 */
export function compileCheck(schema: TSchema, defaults: 'fill' | 'leave' = 'fill'): Check {
  const isValid = ajv[defaults].compile(schema as AnySchemaObject);
  return (value) => (isValid(value) ? [] : explain(schema as AnySchemaObject, value, validators));
}
