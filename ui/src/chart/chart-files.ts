import { saveFile } from '../save-file.js';
import type { ChartLine } from './chart-lines.js';
import { toCsv, toFileName } from './csv.js';
import { toPng, type Picture } from './picture.js';

/** What a chart can be saved as. `all`: every point, from the server. */
export type ChartFile = 'png' | 'csv' | 'all';

interface ChartContent {
  readonly lines: readonly ChartLine[];
  readonly picture: Picture;
  readonly exportAll: (() => Promise<Blob>) | null;
}

/** Hands the chart over as a file. Throws what the server or the browser has against it. */
export async function saveChart(file: ChartFile, { lines, picture, exportAll }: ChartContent): Promise<void> {
  const blob =
    file === 'png'
      ? await toPng(picture)
      : file === 'all' && exportAll
        ? await exportAll()
        : new Blob([toCsv(lines)], { type: 'text/csv' });
  saveFile(blob, toFileName(picture.title, file === 'png' ? 'png' : 'csv'));
}
