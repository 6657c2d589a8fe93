/** A Python program that begins a session of its own, writes over its environment as `setproctitle` does, and then prints its pid. */
export const FORGETFUL = [
  'import ctypes, os, time',
  'os.setsid()',
  'stat = open("/proc/self/stat").read().rpartition(")")[2].split()',
  'start, end = int(stat[47]), int(stat[48])',
  'ctypes.memset(start, 0, end - start)',
  'print(os.getpid(), flush=True)',
  'time.sleep(300)',
].join('\n');
