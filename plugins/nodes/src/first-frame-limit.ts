import { CLOSE } from '@svc/contract';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/** Large enough for the hello of a node with thousands of attempts. */
const MAX_FIRST_FRAME_BYTES = 4 * 1024 * 1024;
const CUT_AFTER_MS = 1_000;

/**
 * The first frame has a lower limit than those of an agent that was welcomed. ws has one limit for all sockets, so the bytes of the
 * connection are counted until the first frame is complete.
 */
export function limitFirstFrame(socket: WebSocket, connection: Socket): void {
  let receivedBytes = 0;
  const count = (chunk: Buffer) => {
    receivedBytes += chunk.length;
    if (receivedBytes <= MAX_FIRST_FRAME_BYTES) return;
    stop();
    socket.close(CLOSE.tooLarge, `a hello may have at most ${MAX_FIRST_FRAME_BYTES} bytes`);
    socket.pause();
    setTimeout(() => socket.terminate(), CUT_AFTER_MS).unref();
  };
  const stop = () => void connection.off('data', count);
  connection.on('data', count);
  socket.once('message', stop);
}
