import { SpoolRecord } from '@svc/contract';
import { compileCheck, failValidation, isTooDeep } from '@svc/kernel';

const check = compileCheck(SpoolRecord, 'leave');

/** A line of a spool file, which a training may have written. Throws validation_error. */
export function parseRecord(line: string): SpoolRecord {
  const record = parseJson(line);
  if (isTooDeep(record)) refuse('it nests too deep');
  const issues = check(record);
  if (issues.length > 0) failValidation(...issues);
  return record as SpoolRecord;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return refuse('the line is no JSON');
  }
}

function refuse(message: string): never {
  return failValidation({ path: '', message });
}
