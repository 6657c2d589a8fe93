/** WebSocket close codes that agents see. From 4000 on they are ours; 4004 is the kernel's, for a token that is no longer valid. */
export const CLOSE = {
  goingAway: 1001,
  protocolError: 1002,
  malformed: 1008,
  tooLarge: 1009,
  internal: 1011,
  refused: 4000,
  replaced: 4001,
  silent: 4002,
  sayHelloAgain: 4003,
} as const;

const MAX_REASON_BYTES = 120;

/** A close reason as WebSocket allows it: at most 123 bytes. */
export function toCloseReason(text: string): string {
  let reason = text;
  while (Buffer.byteLength(reason) > MAX_REASON_BYTES) reason = reason.slice(0, -1);
  return reason;
}
