import type { PbfReader } from 'pbf';
import * as generated from './event.pb.js';

/** The shapes of event.pb.ts, which has no types: what is absent in the file is the default that stands there. */
export interface EventMessage {
  /** Seconds since the Unix epoch. */
  wall_time: number;
  step: number;
  summary: { value: SummaryValue[] } | undefined;
  session_log: { status: number } | undefined;
}

export interface SummaryValue {
  tag: string;
  value: 'simple_value' | 'tensor' | undefined;
  simple_value: number;
  tensor: Tensor | undefined;
  metadata: { plugin_data: { plugin_name: string; content: Uint8Array | undefined } | undefined } | undefined;
}

export interface Tensor {
  dtype: number;
  tensor_content: Uint8Array | undefined;
  float_val: number[];
  double_val: number[];
  int_val: number[];
  string_val: Uint8Array[];
  int64_val: number[];
  bool_val: boolean[];
  half_val: number[];
  uint32_val: number[];
  uint64_val: number[];
}

export interface HParamsMessage {
  session_start_info: { hparams: Record<string, HParam | undefined> } | undefined;
}

export interface HParam {
  kind: 'null_value' | 'number_value' | 'string_value' | 'bool_value' | undefined;
  number_value: number;
  string_value: string;
  bool_value: boolean;
}

type Read<Message> = (pbf: PbfReader, end: number) => Message;

export const readEvent = generated.readEvent as Read<EventMessage>;
export const readHParams = generated.readHParamsPluginData as Read<HParamsMessage>;
