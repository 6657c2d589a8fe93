import { failValidation, toJson } from '@svc/kernel';

/** What the SDK sends at most. */
const MAX_BYTES = 512 * 1024;
const MAX_LEVELS = 64;

/** Throws validation_error for what cannot be kept as the metadata of a checkpoint. */
export function checkMetadata(metadata: object): void {
  if (Object.hasOwn(metadata, 'evaluations')) {
    refuse('is reserved for the results of evaluations; use another name', 'metadata.evaluations');
  }
  // Before it is written as JSON, which takes a stack as deep.
  if (isDeeper(metadata, MAX_LEVELS)) refuse(`must be nested at most ${MAX_LEVELS} levels deep`);
  const sizeBytes = Buffer.byteLength(toJson(metadata));
  if (sizeBytes > MAX_BYTES) refuse(`must be at most ${MAX_BYTES} bytes of JSON, not ${sizeBytes}`);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}

function refuse(message: string, path = 'metadata'): never {
  return failValidation({ path, message });
}
