import type { MetricPoint, SpoolRecord } from '@svc/contract';

/** What is reported one by one: everything but points. As a line of the spool, without its run. */
type Bodied<K extends SpoolRecord['kind']> = Omit<Extract<SpoolRecord, { kind: K }>, 'run_id'>;

export type SdkRecord = (
  | Bodied<'update'>
  | (Bodied<'metric'> & { readonly ts: number })
  | Bodied<'event'>
  | Bodied<'checkpoint'>
  | (Bodied<'finish'> & { readonly ts: number })
) & {
  /** Adds to the body what takes longer to find out. */
  complete?: (() => Promise<void>) | null;
};

/** What is sent with one request. */
export type Batch = MetricPoint[] | SdkRecord;
