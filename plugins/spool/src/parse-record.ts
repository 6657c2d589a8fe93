import { SpoolRecord } from '@svc/contract';
import { compileCheck, failValidation, parseJson, refuse } from '@svc/kernel';

/** The agent sends an empty line in place of one that is too long for a record. */
const EMPTY = 'the line is no JSON: it is empty, or it was too long to be a record';

const check = compileCheck(SpoolRecord, 'leave');

/** A line of a spool file, which a training may have written. Throws validation_error and payload_too_large. */
export function parseRecord(line: string): SpoolRecord {
  const record = parse(line);
  refuse(check(record));
  return record as SpoolRecord;
}

function parse(line: string): unknown {
  try {
    return parseJson(Buffer.from(line));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return failValidation({ path: '', message: line === '' ? EMPTY : 'the line is no JSON' });
  }
}
