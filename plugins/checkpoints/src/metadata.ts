import { failValidation, toJson } from '@svc/kernel';

/** What the SDK sends at most. */
const MAX_BYTES = 512 * 1024;

/** Throws validation_error for what cannot be kept as the metadata of a checkpoint. */
export function checkMetadata(metadata: object): void {
  if (Object.hasOwn(metadata, 'evaluations')) {
    refuse('is reserved for the results of evaluations; use another name', 'metadata.evaluations');
  }
  const sizeBytes = Buffer.byteLength(toJson(metadata));
  if (sizeBytes > MAX_BYTES) refuse(`must be at most ${MAX_BYTES} bytes of JSON, not ${sizeBytes}`);
}

function refuse(message: string, path = 'metadata'): never {
  return failValidation({ path, message });
}
