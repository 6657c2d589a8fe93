/** Where the adapter listens and whom it speaks to. */
export interface AdapterSettings {
  /** Of the server, without a slash at the end. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Of one answer. */
  readonly maxTokens: number;
  /** As of the server: null checks none while it listens elsewhere than on loopback. */
  readonly allowedHosts: readonly string[] | null;
  readonly allowedOrigins: readonly string[];
  /** For callers that send none. */
  readonly token: string | null;
}

export const DEFAULT_PORT = 8601;
export const DEFAULT_MAX_TOKENS = 4_000;
