/** The codes with which the server closes an agent's socket. Those from 4000 on are our own. */
export const CLOSE = {
  goingAway: 1001,
  protocolError: 1002,
  malformed: 1008,
  tooLarge: 1009,
  internal: 1011,
  /** The server does not take this agent. */
  refused: 4000,
  /** A newer connection of the same node has taken its place. */
  replaced: 4001,
  silent: 4002,
  sayHelloAgain: 4003,
  /** The token has been revoked or has expired. */
  tokenRefused: 4004,
} as const;
