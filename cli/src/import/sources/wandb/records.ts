import { PbfReader } from 'pbf';
import * as generated from './wandb.pb.js';

/** The shapes of wandb.pb.ts, which has no types: a field that is absent in the file is the default that stands there. */
export interface WandbRecord {
  readonly history:
    { readonly item: readonly Item[]; readonly step: { readonly num: number } | undefined } | undefined;
  readonly summary: { readonly update: readonly Item[] } | undefined;
  readonly config: ConfigChange | undefined;
  readonly run: RunRecord | undefined;
  readonly exit: { readonly exit_code: number; readonly runtime: number } | undefined;
}

export interface RunRecord {
  readonly run_id: string;
  readonly entity: string;
  readonly project: string;
  readonly config: ConfigChange | undefined;
  readonly run_group: string;
  readonly job_type: string;
  readonly display_name: string;
  readonly notes: string;
  readonly tags: readonly string[];
  readonly host: string;
  readonly start_time: { readonly seconds: number; readonly nanos: number } | undefined;
}

export interface ConfigChange {
  readonly update: readonly Item[];
  readonly remove: readonly Item[];
}

/** A value as JSON under its key, or under the keys that lead to it. */
export interface Item {
  readonly key: string;
  readonly nested_key: readonly string[];
  readonly value_json: string;
}

/** null: the bytes are no record. */
export function parseRecord(bytes: Uint8Array): WandbRecord | null {
  try {
    const reader = new PbfReader(bytes);
    const record = (generated.readRecord as (pbf: PbfReader, end: number) => WandbRecord)(
      reader,
      bytes.length,
    );
    return reader.pos === bytes.length ? record : null;
  } catch {
    // The library throws at the end of its memory.
    return null;
  }
}

export function pathOf({ key, nested_key }: Item): readonly string[] {
  return nested_key.length > 0 ? nested_key : [key];
}
