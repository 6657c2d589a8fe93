import { CHECKPOINT_METADATA_BYTES } from '@svc/contract';
import { failValidation, refuseLargeJson } from '@svc/kernel';

/** Throws validation_error for metadata that a checkpoint cannot have. */
export function checkMetadata(metadata: { readonly evaluations?: unknown }): void {
  if (metadata.evaluations !== undefined) {
    const message = 'is reserved for the results of evaluations; use another name';
    failValidation({ path: 'metadata.evaluations', message });
  }
  refuseLargeJson('metadata', metadata, CHECKPOINT_METADATA_BYTES);
}
