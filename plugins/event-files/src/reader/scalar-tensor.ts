import type { Tensor } from './messages.js';

/** How a number of each type lies in a tensor: by the numbers of TensorFlow's DataType. */
interface NumberType {
  bytes: number;
  fromContent(view: DataView): number;
  listed(tensor: Tensor): readonly (number | boolean)[];
}

const NUMBER_TYPES: Partial<Record<number, NumberType>> = {
  1: { bytes: 4, fromContent: (view) => view.getFloat32(0, true), listed: (tensor) => tensor.float_val },
  2: { bytes: 8, fromContent: (view) => view.getFloat64(0, true), listed: (tensor) => tensor.double_val },
  3: { bytes: 4, fromContent: (view) => view.getInt32(0, true), listed: (tensor) => tensor.int_val },
  4: { bytes: 1, fromContent: (view) => view.getUint8(0), listed: (tensor) => tensor.int_val },
  5: { bytes: 2, fromContent: (view) => view.getInt16(0, true), listed: (tensor) => tensor.int_val },
  6: { bytes: 1, fromContent: (view) => view.getInt8(0), listed: (tensor) => tensor.int_val },
  9: {
    bytes: 8,
    fromContent: (view) => Number(view.getBigInt64(0, true)),
    listed: (tensor) => tensor.int64_val,
  },
  10: { bytes: 1, fromContent: (view) => view.getUint8(0), listed: (tensor) => tensor.bool_val },
  14: {
    bytes: 2,
    fromContent: (view) => bfloat16(view.getUint16(0, true)),
    listed: (tensor) => tensor.half_val.map(bfloat16),
  },
  17: { bytes: 2, fromContent: (view) => view.getUint16(0, true), listed: (tensor) => tensor.int_val },
  19: {
    bytes: 2,
    fromContent: (view) => half(view.getUint16(0, true)),
    listed: (tensor) => tensor.half_val.map(half),
  },
  22: { bytes: 4, fromContent: (view) => view.getUint32(0, true), listed: (tensor) => tensor.uint32_val },
  23: {
    bytes: 8,
    fromContent: (view) => Number(view.getBigUint64(0, true)),
    listed: (tensor) => tensor.uint64_val,
  },
};

/** The number of a tensor that holds exactly one; null for any other. Integers above 2^53 are rounded. */
export function numberOf(tensor: Tensor): number | null {
  const type = NUMBER_TYPES[tensor.dtype];
  if (type === undefined) return null;
  const content = tensor.tensor_content;
  if (content !== undefined && content.length > 0) {
    if (content.length !== type.bytes) return null;
    return type.fromContent(new DataView(content.buffer, content.byteOffset, content.byteLength));
  }
  const values = type.listed(tensor);
  // Writers may leave out a zero.
  return values.length > 1 ? null : Number(values[0] ?? 0);
}

function bfloat16(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits << 16);
  return view.getFloat32(0);
}

/** IEEE 754 binary16. */
function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
