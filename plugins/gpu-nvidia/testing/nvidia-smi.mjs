/**
 * Stands in for nvidia-smi: `nvidia-smi.mjs DIR ARGUMENTS`. It plays what `DIR/state.json` says (see stand-in.ts), which it reads for each answer,
 * and notes its starts in `DIR/starts`.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const [dir, ...args] = process.argv.slice(2);
appendFileSync(path.join(dir, 'starts'), `${process.pid} ${args.join(' ')}\n`);
const recordings = path.join(import.meta.dirname, 'recordings');
const loop = args.find((arg) => arg.startsWith('--loop-ms='));
const read = () => JSON.parse(readFileSync(path.join(dir, 'state.json'), 'utf8'));
const recordingOf = (name) => readFileSync(path.join(recordings, name), 'utf8');

function answer() {
  const state = read();
  if (state.exit !== undefined) {
    process.stdout.write(recordingOf(state.exit.says));
    process.exit(state.exit.code);
  }
  if (state.hangs) return;
  if (args[0] === '-L') {
    const list = path.join(recordings, state.recording.replace('.xml', '.list.txt'));
    const tell = () => process.stdout.write(existsSync(list) ? readFileSync(list, 'utf8') : '');
    setTimeout(tell, state.listMs ?? 0);
  } else process.stdout.write(toDocument(state));
}

/** The recording with so many GPUs of its kind, without those that are gone, and with the given processes and memory. */
function toDocument({ recording, gpus, gone = [], processes = null, usedMb = {} }) {
  const [head, ...blocks] = recordingOf(recording).split(/(?=\t<gpu id=)/);
  const tail = '\n</nvidia_smi_log>\n';
  const all =
    gpus === undefined
      ? blocks.map((block) => block.replace(tail, ''))
      : Array.from({ length: gpus }, (_, index) => renumber(blocks[0].replace(tail, ''), index));
  const shown = all.map((block, index) =>
    processes === null
      ? block
      : withProcesses(
          block,
          processes.filter((each) => each.gpu === index),
          usedMb[index],
        ),
  );
  return head + shown.filter((_, index) => !gone.includes(index)).join('') + tail;
}

function renumber(block, index) {
  const bus = (0x10 + index).toString(16).toUpperCase().padStart(2, '0');
  return block
    .replace(/<gpu id="[^"]*"/, `<gpu id="00000000:${bus}:00.0"`)
    .replace(/<uuid>GPU-[^<]*</, `<uuid>GPU-00000000-0000-4000-8000-00000000000${index}<`);
}

function withProcesses(block, processes, usedMb) {
  const infos = processes.map(
    ({ pid, type = 'C', name = 'python3', mb, gi = 'N/A' }) => `			<process_info>
				<gpu_instance_id>${gi}</gpu_instance_id>
				<compute_instance_id>${gi === 'N/A' ? gi : 0}</compute_instance_id>
				<pid>${pid}</pid>
				<type>${type}</type>
				<process_name>${name}</process_name>
				<used_memory>${mb} MiB</used_memory>
			</process_info>
`,
  );
  const used = usedMb ?? processes.reduce((sum, { mb }) => sum + mb, 4);
  return block
    .replace(/<processes>[^]*<\/processes>/, `<processes>\n${infos.join('')}\t\t</processes>`)
    .replace(/(<\/mig_devices>[^]*?<fb_memory_usage>[^]*?<used>)[^<]*/, `$1${used} MiB`);
}

answer();
if (loop === undefined) process.exitCode = 0;
else setInterval(answer, Number(loop.split('=')[1]));
// It hangs, whatever is asked.
if (loop === undefined && read().hangs) setInterval(() => {}, 60_000);
