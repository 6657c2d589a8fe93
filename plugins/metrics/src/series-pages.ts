import { yieldIfSliceOver } from '@svc/kernel';
import type { SeriesRow } from './point-rows.js';
import type { PointStore } from './point-store.js';

const SERIES_PER_PAGE = 512;

/** Every series of a run in the order of the names, page by page. Other requests can use the database between two pages. */
export async function* seriesPagesOf(
  store: PointStore,
  runId: string,
): AsyncGenerator<readonly SeriesRow[], undefined> {
  let behind = '';
  for (;;) {
    await yieldIfSliceOver();
    const page = await store.read(async (rows) => {
      const run = await rows.findRun(runId);
      return run ? rows.seriesAfter(run.key, behind, SERIES_PER_PAGE) : [];
    });
    if (page.length > 0) yield page;
    if (page.length < SERIES_PER_PAGE) return;
    behind = page.at(-1)!.name;
  }
}
