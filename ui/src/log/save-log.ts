import { toast } from '../components/svc-toasts.js';
import { toApiError, type Api } from '../data/api.js';
import { downloadLog } from '../data/jobs.js';
import { saveFile } from '../save-file.js';

/** The whole log as a file; a failure is told in a toast. */
export async function saveLog(api: Api, jobId: string, attempt: number): Promise<void> {
  try {
    saveFile(await downloadLog(api, jobId, attempt), `${jobId}-attempt-${attempt}.log`);
  } catch (error) {
    toast(toApiError(error).message, { isError: true });
  }
}
