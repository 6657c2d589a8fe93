import { PbfReader } from 'pbf';
import { readEvent, readHParams, type EventMessage, type HParam, type SummaryValue } from './messages.js';
import { numberOf } from './scalar-tensor.js';
import { configOfText } from './text-config.js';

export interface Scalar {
  kind: 'scalar';
  tag: string;
  step: number;
  /** NaN and infinities too. */
  value: number;
  /** Wall time in milliseconds since the Unix epoch, as written: it may be anything, and has a fraction. */
  wallTimeMs: number;
}

/** Hyperparameters: the values of the hparams plugin, as `add_hparams` writes them, or those of a text. */
export interface HParams {
  kind: 'hparams';
  values: Record<string, unknown>;
}

/** The training began again at `step`: TensorBoard forgets what it has read so far, of any tag, at this step and later ones. */
export interface Restart {
  kind: 'restart';
  step: number;
}

export type Item = Scalar | HParams | Restart;

const SESSION_START = 1;
const HPARAMS_TAG = '_hparams_/session_start_info';

/** Takes the items out of events that lie in one piece of memory. */
export class ItemReader {
  readonly #bytes: Uint8Array;
  #pbf: PbfReader;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#pbf = new PbfReader(bytes);
  }

  /** Appends what the event in `bytes[start, end)` holds. False: it is no event. */
  read(start: number, end: number, items: Item[]): boolean {
    const count = items.length;
    try {
      this.#pbf.pos = start;
      addItems(readEvent(this.#pbf, end), items);
      if (this.#pbf.pos === end) return true;
    } catch {
      // The library throws at the end of its memory; a field that goes beyond the end of the event is found by its position.
    }
    items.length = count;
    this.#pbf = new PbfReader(this.#bytes);
    return false;
  }
}

function addItems(event: EventMessage, items: Item[]): void {
  const { step } = event;
  if (event.session_log?.status === SESSION_START) items.push({ kind: 'restart', step });
  if (event.summary === undefined) return;
  for (const summary of event.summary.value) {
    const value = scalarOf(summary);
    if (value !== null) {
      items.push({ kind: 'scalar', tag: summary.tag, step, value, wallTimeMs: event.wall_time * 1000 });
    } else {
      const values = summary.tag === HPARAMS_TAG ? hparamsOf(summary) : textConfigOf(summary);
      if (values !== null) items.push({ kind: 'hparams', values });
    }
  }
}

/** A tensor is a scalar where no other plugin claims it. */
function scalarOf({ value, simple_value, tensor, metadata }: SummaryValue): number | null {
  if (value === 'simple_value') return simple_value;
  if (tensor === undefined) return null;
  const plugin = metadata?.plugin_data?.plugin_name ?? '';
  return plugin === 'scalars' || plugin === '' ? numberOf(tensor) : null;
}

function textConfigOf({ tag, tensor, metadata }: SummaryValue): HParams['values'] | null {
  const [text] = tensor?.string_val ?? [];
  return text === undefined || metadata?.plugin_data?.plugin_name !== 'text' ? null : configOfText(tag, text);
}

function hparamsOf({ metadata }: SummaryValue): HParams['values'] | null {
  const content = metadata?.plugin_data?.content;
  if (metadata?.plugin_data?.plugin_name !== 'hparams' || content === undefined) return null;
  const { session_start_info } = readHParams(new PbfReader(content), content.length);
  if (session_start_info === undefined) return null;
  return Object.fromEntries(
    Object.entries(session_start_info.hparams).map(([name, hparam]) => [name, plainValue(hparam)]),
  );
}

function plainValue(hparam: HParam | undefined): number | string | boolean | null {
  switch (hparam?.kind) {
    case 'number_value':
      return hparam.number_value;
    case 'string_value':
      return hparam.string_value;
    case 'bool_value':
      return hparam.bool_value;
    case 'null_value':
    case undefined:
      return null;
  }
}
