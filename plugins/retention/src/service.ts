import type { GarbageReport } from '@svc/contract';
import { serviceRef } from '@svc/kernel';
import type { GarbageOrder } from './criteria.js';

export interface Retention {
  /** As `POST /admin/gc`; `signal` ends it after the removal at hand. Throws conflict while another one removes. */
  collectGarbage(order: GarbageOrder, signal?: AbortSignal): Promise<GarbageReport>;
}

export const retentionRef = serviceRef<Retention>('retention');
